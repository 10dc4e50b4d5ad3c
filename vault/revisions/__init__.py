"""What is asked of a line: its history, its graph, and the revision store's readers.

| module | holds |
|---|---|
| `history`, `graph`, `versions` | lines, commits and releases; ancestors and merge bases; versions |
| `paint`, `chains` | how far a graph is walked down; all of one, for who asks much of it |
| `touching` | which commits changed a path |
| `kept_states` | what an act wrote over, by name for a while |
| `cases`, `candidates`, `labels` | names of content, of records, and for numbers |
| `reads`, `ranges`, `nodes`, `waiting` | a line at one revision, what a copy of it lacks, its tree, and what comes |
"""
