"""Floor 3: command line and terminal app; the only place that knows argv, terminal and environment.

| where | what is there |
|---|---|
| `cli`, `verbs` | the command line: what the verbs share, and the verbs |
| `app`, `looking`, `working`, `asking`, `serving`, `parting`, `lending` | the app in layers, and how it is left |
| `host`, `messages`, `job`, `server`, `pausing` | what a screen may ask of it, work in threads, and standing still |
| `screens`, `places` | what is seen, and which screen each place is |
| `actions`, `keymap`, `bindings`, `palette` | all that can be done, its keys, and finding it by name |
| `view`, `reading`, `lineage` | what Home and the history show, as values |
| `deeds`, `redoing` | what is done to a vault from Home |
| `checking`, `guarding` | a check and a repair of the vault, a passphrase for the key: for a command and the app |
| `taste`, `themes`, `styles` | how it looks |
| `demo`, `tour`, `docs`, `screenshots` | the story, and the pages and pictures that are made of the program |
"""

__version__ = "0.1.0"
