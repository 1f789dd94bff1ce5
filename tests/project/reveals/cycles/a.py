from b import nobody, shared

reveal(shared)  # reveals: 7
