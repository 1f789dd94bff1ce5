"""`dllint probe`."""
