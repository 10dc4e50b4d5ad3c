"""Floor 3: command line and terminal app; the only place that knows argv, terminal and environment.

| where | what is there |
|---|---|
| `cli`, `verbs` | the command line: what the verbs share, and the verbs |
| `words`, `acts` | what a command and the app say and do alike; both know neither |
| `errors` | errors that only this floor can meet |
| `app`, `screens` | the app with its parts, and what is seen |
| `keys` | all that can be done in the app, and its keys |
| `model` | what the screens show and what is done from them, as values and acts |
| `demo`, `tour`, `docs`, `screenshots` | the story, and the pages and pictures that are made of the program |
"""

__version__ = "0.1.0"
