"""What a command and the app do alike, with no word of either.

| where | what is there |
|---|---|
| `checking` | a check of the vault and a repair |
| `guarding` | a passphrase for the key |
| `server` | a live server in threads of its own |
"""
