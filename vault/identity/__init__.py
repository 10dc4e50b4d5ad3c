"""A person's key, and the mark beside it."""
