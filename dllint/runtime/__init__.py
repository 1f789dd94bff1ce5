"""What happens when programs run: error messages and the machine they come from, and loaders that are tried."""
