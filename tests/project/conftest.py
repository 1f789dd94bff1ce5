"""The programs are read, never imported."""

collect_ignore_glob = ["programs/*"]
