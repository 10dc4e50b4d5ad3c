"""What the screens show and what is done from them, as values and acts that know no screen.

| where | what is there |
|---|---|
| `view`, `reading`, `lineage` | what Home and the history show, as values |
| `deeds`, `redoing` | what is done to a vault from Home |
| `job` | work in threads: how far it is, and the wish to stop it |
"""
