def by_part(method):
    made = "a" if method == "thread" else "b"
    if method in "threads":
        reveal(made)  # reveals: 'a' | 'b'
    if method in ("process",):
        reveal(made)  # reveals: 'b'
