"""The language server (extra `lsp`). Here nothing is imported: most people run commands."""
