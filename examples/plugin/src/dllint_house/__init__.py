"""The house rules of a team: what it wants dllint to look for besides."""
