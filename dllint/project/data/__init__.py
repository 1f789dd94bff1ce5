"""Which data grows with the dataset, and which code reads it item by item.

What a container holds (names, paths, rows), where its length comes from, and whether that is long enough to matter in
each worker. Rules of memory ask it of what workers get.
"""
