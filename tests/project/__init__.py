"""What the project model says of small programs, written down in the programs themselves."""
