"""Places: what is remembered of each, and the roads that open one.

| module | holds |
|---|---|
| `registry`, `turns` | what is remembered of each by its name, and one visit to it at a time |
| `roads`, `media`, `adding`, `placed` | made, opened with its keys, added, and what is said of one then |
| `sealing`, `told_keys` | the keys of encrypted media, kept and told |
| `published`, `seen`, `copies`, `no_room` | what of mine lies there, what was read there, a copied medium, a full one |
"""
