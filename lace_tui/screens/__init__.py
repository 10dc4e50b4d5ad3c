"""The screens of the app; each shows values read elsewhere and knows no store.

| module | holds |
|---|---|
| `host`, `messages` | what a screen may ask of the app, and what comes back |
| `place`, `listing`, `panel`, `pane`, `lines`, `texts` | what screens are made of: places, lists, frames, all rows |
| `cards`, `told_frame`, `rows`, `marks`, `hanging_text` | cards and their frame, rows, signs, long text |
| `overlay`, `dialogs`, `viewer`, `entry`, `editor`, `help` | over them: details, plans, texts, what is typed |
| `first`, `home`, `plans`, `asks`, `visits`, `serving`, `carrying` | the first run, Home, and what begins there |
| `conflicts`, `resolve`, `comparing`, `editing`, `walk`, `keeping`, `written` | conflicts, deciding |
| `sides`, `numbered` | what each side of a conflict has, as rows: numbered lines beside each other |
| `late_text`, `left_text` | texts that decide nothing any more |
| `queue`, `peers`, `belonging` | who lacks what, who is there, and leaving |
| `history`, `files`, `bringing`, `old_revisions` | every point in time, its files, and what is brought back of them |
| `kept`, `letting_go`, `desks` | what an undo or a checkout kept, letting go of old ones, desks and their rules |
| `audit`, `quarantine`, `checks` | what was done, what was refused, and whether all is whole |
| `export`, `settings`, `guarding`, `passphrase` | tables, how all of this behaves, a key that a passphrase opens |
"""
