"""What a command and the app do alike; it knows neither.

| where | what is there |
|---|---|
| `checking` | a check of the vault and a repair |
| `desk_rules` | desks, who may write and read, and how long files are kept |
| `guarding` | a passphrase for the key |
| `placing` | a place that is encrypted from its first visit on |
| `server` | a live server in threads of its own |
| `stopping` | the wish to stop work, and the signals that ask for it |
| `typed` | what a person typed: paths, and the key of a node |
"""
