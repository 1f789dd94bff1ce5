"""What is sent to workers, by which route: what objects hold, what pickle leaves out, which of it is a handle."""
