"""The shared folder and its line: what an update, a merge or an undo makes of them."""
