"""A conflict decided by a person: opened, chosen for path by path, written."""
