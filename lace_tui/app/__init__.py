"""The app in layers, each on the one before: work in threads, looks at the vault, questions, the server, leaving.

| where | what is there |
|---|---|
| `working`, `looking`, `asking`, `serving`, `parting`, `lending`, `lace` | the layers, from the lowest up |
| `tui` | the verb that opens it |
| `places`, `palette` | which screen each place is, and finding what can be done by name |
| `pausing` | standing still while a shell has the terminal |
| `styles`, `themes` | how it looks |
"""
