"""What the rules on starting workers share: forks, threads, start methods, default devices, work that is repeated."""
