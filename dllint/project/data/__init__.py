"""Which data grows with the dataset, and which code reads it item by item."""
