"""The values sent to workers and their routes: what objects hold, what pickle leaves out, what is a handle."""
