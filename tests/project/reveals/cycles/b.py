from a import nobody

shared = 7
