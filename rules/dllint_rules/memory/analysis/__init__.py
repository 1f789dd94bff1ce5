"""What the rules on memory share: caches that grow with the items, and batches that the main process keeps."""
