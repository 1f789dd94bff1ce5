"""What the rules on the lifetime of workers share: iterators kept or restarted, signals taken, queues left full."""
