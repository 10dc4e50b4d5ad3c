"""All that can be done in the app, the keys of it, and what a person changed of them.

| where | what is there |
|---|---|
| `actions` | the table of what can be done, where, and by which keys |
| `keymap` | the keys as people write and change them |
| `bindings` | the keys as Textual takes them |
| `taste` | the keys and the theme that a person chose |
"""
