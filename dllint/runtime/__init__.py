"""What happens when programs run: error messages and the machine they come from."""
