"""Clay desks: trees, commits, the working tree, merge."""
