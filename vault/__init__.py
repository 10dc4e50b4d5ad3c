"""Floor 0: records, keys, store, desks and audit of one person. Knows no peer, network or screen.

`vault` opens one, `writer` is the only way to change it, and `store` answers whatever is asked of it.

| where | what is there |
|---|---|
| `records`, `profile`, `sexp`, `suite` | what a record is, what each kind means, text forms, signatures |
| `store`, `frames`, `proofs` | records and the views made of them, their bytes, signatures verified beside |
| `vault`, `beginning`, `writer` | an opened vault, one that is begun, and the only way to change it |
| `states` | the states that a vault may be found in, and what becomes of it in each |
| `lock`, `config`, `settings_file`, `readable_files` | the files beside its store: lock, settings, those for people |
| `identity`, `persons`, `membership` | keys, whose nodes are whose, and who belongs |
| `permits`, `readers`, `kept_rows` | who may do what, what is shared with nobody because of that, if it rotted |
| `desks`, `desk_folders`, `folder`, `content` | trees, where they lie on the disk, work there, what content stays |
| `releasing`, `revisions`, `since_release` | versions of a line, and what is asked of lines |
| `notes` | what one vault remembers for itself under names |
| `nodelog`, `log_gap`, `late_content` | how far a log counts, a gap in my own, and what came after its entry |
| `left_log` | whether the write-ahead log beside a store is one that nobody has open |
| `rules`, `lacegram` | the rule language, and how its texts are written |
| `audit`, `fsck` | the trail of what was done, and checking everything anew |
| `surroundings`, `watch`, `space` | the world as it comes in, progress, room on the disk |
| `files`, `outside` | files that are whole, and paths that lie outside of every vault |
| `write_behind`, `flush_ahead` | threads that write behind, and that flush while more is written |
| `worker_process` | another process for what takes long |
| `held_memory` | what is freed is held for what comes next |
| `errors`, `names`, `commands`, `visible`, `typed` | what can go wrong, and how names are said |
| `plural`, `by_kind` | how numbers, and what changed, are said |
"""
