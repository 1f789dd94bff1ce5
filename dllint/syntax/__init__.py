"""All of the engine that imports libcst: parsing, spans, walking, and writing text."""
