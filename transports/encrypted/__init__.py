"""Mailboxes that only members read: keys, envelopes, and files in authenticated chunks.

| module | holds |
|---|---|
| `member_keys`, `notices` | the keys of a medium, and what is told to who may read no more |
| `sealing`, `cipher` | envelopes and files, and how their chunks are encrypted |
| `sealed`, `boxes` | a place whose mailboxes may be encrypted, and which of them this node opens |
"""
