from b import shared

reveal(shared)  # reveals: 7
