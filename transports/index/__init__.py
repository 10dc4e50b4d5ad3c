"""The index of a mailbox: runs of what it holds and where, folded so that few of them are kept."""
