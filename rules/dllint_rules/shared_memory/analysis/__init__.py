"""What the rules on shared memory share: the containers that run workers."""
