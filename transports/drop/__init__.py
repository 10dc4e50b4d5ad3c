"""Mailboxes in a directory, such as one on a USB stick.

| module | holds |
|---|---|
| `place`, `directory`, `marker` | a drop, its directory, and the file that tells it from another |
| `writer`, `part`, `partial` | writing my mailbox: file by file, going on where an earlier attempt ended |
| `media` | which drops are plugged in now |
"""
