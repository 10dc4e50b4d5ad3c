"""Notes: what one vault remembers for itself under names, and no record carries.

| module | holds |
|---|---|
| `note`, `forms` | what a note is, and how its text is read and written |
| `own`, `people`, `places` | notes of the vault, of who belongs, of places and visits |
| `rules`, `folders`, `revisions` | notes of desks: rules that a person set, their folders, kept states and lines |
| `registry` | all of them, and whose a row of the store is |
"""
