"""Which file and which name is meant: modules, their blocks and guards, and names through imports and re-exports."""
