"""The store: records, facts and views in one SQLite file.

| module | holds |
|---|---|
| `store`, `reads`, `database`, `schema` | the store, how it is read, its one connection, its tables |
| `intake`, `contents`, `facts` | records on their way in, small contents among them, and the facts of each |
| `views`, `belonging`, `showing` | what follows from records: who belongs, what shows |
| `closure`, `sharing` | what a record reaches, what of it is shared |
| `previous_pages`, `holes` | what a page listed before, what is missing |
| `batch_reads`, `cache`, `fresh`, `at_hand`, `sums` | reading many at once, and what need not be asked again |
| `packs`, `packappend`, `packread`, `packio` | large content: written, frame by frame into files, and read |
| `packleft`, `repack` | its room given back, and packs thinned out |
| `packcheck`, `packfind`, `packmend` | what `fsck` asks of large content, and puts right |
| `compare`, `guard`, `values`, `numbers` | how `fsck` tells that a table rotted, or a value of it |
| `head`, `salvage`, `carve`, `carve_places` | what of a rotten file is the same in each, can be read, or found in it |
| `sectors`, `alone` | what the disk gives no more of a store's files, while nobody has them open |
| `wal`, `wal_look`, `wal_frames` | a write-ahead log that rotted, before SQLite takes in what is left of it |
"""

from __future__ import annotations

from vault.store.store import Store

__all__ = ["Store"]
