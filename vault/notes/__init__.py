"""Notes: what one vault remembers for itself under names, and no record carries.

| module | holds |
|---|---|
| `note`, `forms` | what a note is, and how its text is read and written |
| `own`, `people`, `folders`, `places` | notes of the vault, of who belongs, of desks, of places and visits |
| `registry` | all of them, and whose a row of the store is |
"""
