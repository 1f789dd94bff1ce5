"""What the rules on wrong data share: random states and seeds, shards, and state that only one process has."""
