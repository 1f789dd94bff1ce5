"""What is sent to workers, and by which route.

From each loader through everything that holds something: attributes, elements, what libraries keep. It knows what a
pickle leaves out, which values belong to one process (handles), and what a library offers to loaders of its users.
"""
