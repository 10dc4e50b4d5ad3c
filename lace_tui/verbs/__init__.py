"""The verbs of the command line: one module for each family of them.

| module | verbs |
|---|---|
| `begin`, `asking`, `belonging`, `adopting`, `peers`, `placing`, `guarding` | "Begin and belong" |
| `work`, `keeping_out`, `releasing`, `updating`, `merging`, `undoing` | "Work": what goes out and what comes in |
| `log`, `diff`, `desks`, `reading`, `checking_out` | "Work": what is looked at, and brought back |
| `archiving`, `waiting` | "Work": one file of a state, and waiting for the next |
| `permitting`, `letting` | "Work": what is permitted and kept |
| `syncing`, `sync_report`, `serving`, `carrying`, `presence` | "Sync": the roads |
| `overview`, `status`, `links`, `conflicts`, `deciding` | "Sync": where everybody stands, and what disagrees |
| `look`, `pruning`, `why`, `records`, `verify`, `quarantine`, `rules`, `exporting` | "Look after, look into" |
| `about`, `demo`, `keys` | "About lace" |
"""
