"""Which code runs where: in workers, in the main process alone, on import, in processes of the project's own."""
