"""The folder of a desk: looked at, committed, brought to a tree, and gone on with after a crash."""
