"""Mailboxes in a git remote (docs/formats.md section "Git remotes"; architecture decision 7a).

| module | holds |
|---|---|
| `remote` | what an address means to git |
| `local` | which repositories on this machine are safe to use |
| `command` | running git: environment, configuration |
| `pace` | when a talk is given up |
| `complaints` | what git's complaints mean |
| `private` | the private repository: objects, refs, fetch and push |
| `tree` | a mailbox as a tree, and its small text forms |
| `refusals` | what a host means by not taking a push |
| `view` | branches as they stood when a remote was asked, and the mailboxes that were fetched |
| `mending` | reading mailboxes, those of mine put right first |
| `place`, `writer` | which place it is, and its mailboxes for reading and writing |
| `notes` | what is remembered beside git's own files |
| `branches` | whose mailboxes the branches are |
| `tips` | fetching the tips that changed |
| `standing` | whether a branch that moved stands at what was written later |
| `losses` | what readers say that the host lost |
| `pieces` | files put together from pieces, fetched when they are read |
| `compaction` | a mailbox's history begun anew |

Nothing here is imported before a git place is used: GitPython looks for git when it is imported.
"""
