"""A conflict decided by a person: opened, chosen for path by path, written.

| module | holds |
|---|---|
| `opening`, `deciding` | a conflict as it is compared, and what is chosen file by file |
| `drafts`, `draft_files`, `kept_texts`, `left_texts` | that kept until it is written, where it lies, and texts that are in no draft |
| `picks`, `siding`, `regions` | choices in words and as commits, a path as all sides have it, lines by number |
| `own_folder`, `unedited`, `earlier` | what the folder says as edited, what nobody edited, and earlier decisions |
| `taking`, `sealed` | the merge that the choices give, and the records of a decision |
| `planning`, `resolve` | what a decision would do, and the act itself |
"""
