"""What a change is to blame for: findings that it touches, findings that were not known, comments on its diff."""
