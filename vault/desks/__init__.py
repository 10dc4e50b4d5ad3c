"""Clay desks: directories as trees, the working tree on disk, checkout, diff and three-way merge."""
