"""What is asked of a line: its history, its graph, and the revision store's readers."""
