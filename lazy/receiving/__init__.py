"""From a stranger's bytes to records that count, or to why they do not.

| module | holds |
|---|---|
| `receive`, `round`, `ending` | taking records in, what a round holds in memory meanwhile, and what its end refuses |
| `judging` | what is right about a record, whoever sealed it |
| `workers`, `proving` | the worker processes of a sync, and how one of them proves large contents |
| `pile`, `stash`, `holes` | what waits in memory, and what is missing and asked for |
| `cuts`, `unproven`, `closed` | revoked nodes, mailboxes of nobody known, and what the revoked are told |
| `membership_news` | members who came or went by what came, until a person was told of them |
| `mailbox_left` | how a mailbox is left, and when it need not be read again |
| `refusals`, `quarantine`, `readmit` | what was refused, what of it is kept, and judging it again |
"""
