"""A mailbox in one file, to mail or to carry (decision 5)."""
