shared = 7
