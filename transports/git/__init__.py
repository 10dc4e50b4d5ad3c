"""Mailboxes in a git remote (docs/formats.md section "Git remotes"; architecture decision 7a).

| module | holds |
|---|---|
| `place`, `view`, `mending` | a place, its branches as they stood when it was asked, reading its mailboxes |
| `writer`, `writable`, `compaction` | writing my mailbox, its port to the place, and beginning its history anew |
| `draft` | what my mailbox is to be, while it is written |
| `withdrawal` | taking it away where the host deletes no branch, and what stays readable there |
| `tree`, `branches`, `pieces` | a mailbox as a tree, whose mailbox a branch is, files in pieces |
| `remote`, `local` | what an address means to git, and which repositories on this machine are safe to use |
| `private`, `repository`, `objects` | my private repository: its parts, what lies in it, its objects |
| `talks`, `apart` | what goes between it and its remote, and what is asked there by somebody who has nothing |
| `object_files`, `packs` | objects read from the files of git, and packs of lace's own |
| `host`, `copying`, `handing` | a repository on this machine, read where it lies; what is copied and pushed there |
| `homes` | which private repository is that of which address of a place |
| `upkeep`, `folding`, `notes` | what is cleared away or put together in it, and what is remembered beside git's files |
| `tips` | fetching the tips that changed |
| `repush`, `backup` | pushing once more what a host lost, and what is kept here until the host has it |
| `losses`, `setback` | what readers say a host lost, and whether a branch that moved holds what a copy wrote |
| `command`, `library`, `pace` | running git, by the one module of GitPython that does, and when a talk is given up |
| `watchdog`, `pipes` | ending a talk where this process was killed meanwhile; pipes to a git that may hang |
| `complaints`, `refusals` | what git's complaints mean, and what a host means by not taking a push |

Nothing here is imported before a git place is used.
"""
