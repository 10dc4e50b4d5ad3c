"""Notes: what one vault remembers for itself under names, and no record carries.

| module | holds |
|---|---|
| `note`, `forms` | what a note is, and how its text is read and written |
| `own`, `folders`, `places` | the notes of the vault and its people, of desks and folders, of places and visits |
| `registry` | all of them, and whose a row of the store is |
"""
