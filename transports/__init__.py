"""Floor 1: how bytes travel between vaults. Knows the vault's records, never the friends.

| module | holds |
|---|---|
| `address` | which kind of place a text means |
| `bundle` | stored records in compressed frames |
| `runs`, `runfile`, `merging`, `listing` | index runs, their files, their fold, and looking records up in it |
| `snapshot` | the sealed head of a mailbox |
| `mailbox` | what a road must offer |
| `drop`, `medium` | mailboxes in a directory, and files that may vanish or lie |
| `git` | mailboxes in a git remote |
| `reading`, `publishing` | from head to records, and from records to the next head |
| `errors`, `layout` | what can go wrong; names, limits and small text forms |
"""
