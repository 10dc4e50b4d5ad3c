"""Floor 1: how bytes travel between vaults. Knows the vault's records, never the friends.

| where | what is there |
|---|---|
| `address`, `mailbox`, `errors` | which road an address means, what each road must offer, and what can go wrong on it |
| `drop`, `git`, `http`, `onefile` | the roads: a directory, a git remote, a server on the web, one file |
| `encrypted` | mailboxes on any of these that only members read |
| `bundles`, `index`, `snapshot` | what a mailbox is made of: records in frames, where each lies, the sealed head |
| `publishing` | from records to the next head |
| `reading`, `listing`, `proven` | from a head to records: the fold of its runs, and what was compared with its hash |
| `medium`, `filecache`, `positioned` | files that may vanish or lie, small ones as they were, reading anywhere |
| `past_cache` | what a file has on its medium, and not in the cache of the system |
| `layout` | names, limits and small text forms that all of these share |
"""
