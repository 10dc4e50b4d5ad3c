"""Clay desks: directories as trees, the working tree on disk, checkout, diff and three-way merge.

| module | holds |
|---|---|
| `tree`, `pages`, `paths`, `content` | a directory as records: its pages, the names in it, small contents |
| `kept_pages` | pages and directories that were read last |
| `cutting`, `chunks`, `sums` | large contents in parts, and the sum of a directory |
| `delta_bases` | which older bytes new ones are like |
| `worktree`, `scan`, `choosing`, `modes`, `untold`, `taker` | from the folder to a tree |
| `ignore`, `former_ignore`, `absent_paths` | what stays out, by rules now and before; what this disk cannot carry |
| `glance`, `scancache`, `arrived`, `basetree` | what a scan need not read again |
| `plan`, `steps`, `checkout`, `writing`, `filling`, `temporary` | from a tree to the folder, each file whole |
| `folder`, `cursor` | the folder on disk, in which no link leads outside: its files, and walking through it |
| `causes` | why a path of the folder is left alone or told of, where an act hangs on it |
| `diff`, `differences`, `page_diff`, `changeset`, `edit`, `patches` | what differs, and new trees |
| `merge`, `merge_text`, `matching`, `sided`, `strategies`, `path_conflict` | merging, and where that needs a person |
| `renames`, `recased`, `moved_files`, `left_behind`, `spelling` | what one side moved, as a merge follows it |
| `ports`, `memory` | what desks need of a store, and one in memory |
"""
