"""From a stranger's bytes to records that count, or to why they do not."""
