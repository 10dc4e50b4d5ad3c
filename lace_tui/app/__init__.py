"""The app: one class, which holds parts with one duty each and hands what they do to the screens.

| where | what is there |
|---|---|
| `lace` | the app: it makes the parts and knows all of them; what screens may ask of it stands in `screens.host` |
| `front` | what a part may ask of the app |
| `working`, `unlocking` | work in threads, its progress and its end; a passphrase that it waits for |
| `looking`, `showing`, `telling` | reading the vault and places; showing what is known; cards of what ended |
| `beginning`, `parting` | the first run, and leaving |
| `asking`, `serving`, `lending`, `tasting` | questions, the server, the editor, colours and keys |
| `tui` | the verb that opens it |
| `places`, `palette` | which screen each place is, and finding what can be done by name |
| `pausing` | standing still while a shell has the terminal |
| `styles`, `themes` | how it looks |
"""
