"""Floor 0: records, keys, store, desks and audit of one person. Knows no peer, network or screen."""
