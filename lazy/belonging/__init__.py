"""Who belongs: invited, admitted, revoked, and what is known of each.

| module | holds |
|---|---|
| `invitations`, `circle` | the line that lets somebody in, and my own acts: invite, accept, join, leave |
| `requests`, `admitting`, `revoking` | who waits, who is let in, and where a log ends for the group |
| `adopting`, `forks` | going on as a new node, and two entries under one number |
| `trust`, `reputation`, `beacon` | how far a key is trusted, what speaks against it, and what somebody says |
"""
