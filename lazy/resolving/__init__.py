"""A conflict decided by a person: opened, chosen for path by path, written.

| module | holds |
|---|---|
| `opening`, `deciding` | a conflict as it is compared, and what is chosen file by file |
| `drafts`, `draft_files` | that kept until it is written, and where it lies |
| `kept_texts`, `left_texts` | texts that are in no draft, and those that wait for somebody to look for them |
| `picks`, `siding`, `regions` | choices in words and as commits, a path as all sides have it, lines by number |
| `own_folder`, `own_work`, `unedited` | what the folder says as edited, would release, and what nobody edited |
| `earlier` | what two earlier decisions made of one file, where that clashes |
| `picked_heads`, `chosen` | choices as a merge of heads takes them, and what one clash becomes by them |
| `taking`, `sealed` | the merge that the choices give, and the records of a decision |
| `planning`, `resolve` | what a decision would do, and the act itself |
"""
