"""Checking a vault from the ground up.

| module | holds |
|---|---|
| `check`, `report` | a look at everything that changes nothing, and what it found |
| `repair` | every view made anew from the records, and damaged records put aside |
| `unopened` | what is mended of the store's files before anybody opens them |
| `scratch` | what both need around them: a moment without writers, and a store beside the store |
| `bodies` | the store's file as SQLite sees it, every record in it, and the packs |
| `identity`, `own` | whose vault it is, its mark, its key, and the tables that no record carries |
| `drafts`, `folders` | drafts that stand on what is lost, and what is noted of folders |
| `notes`, `rules` | notes that rotted, and those of who may read and write |
"""
