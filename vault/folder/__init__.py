"""The folder of a desk: looked at, committed, brought to a tree, and gone on with after a crash.

| module | holds |
|---|---|
| `work`, `checked_out` | commits and checkouts, and what the folder stands on |
| `looking`, `dir_cache` | how it is looked at, and what the last look saw |
| `held_rules`, `former_rules` | former rules that hold on, and how many |
| `unfinished`, `checkout_journal` | a checkout that was cut off, and the notes it left |
| `meanwhile`, `finishing` | what was saved while a checkout wrote, and what it comes to that it is finished |
| `desk_moves`, `unshared` | what one has where another lies or lay before it was moved, and nobody got yet |
| `divergence`, `brought_paths`, `copies` | what my line has beyond it, what was brought by path, and copies beside it |
| `virtual_base`, `desks_around` | the merge base of a new desk, from what it has of the desks around it |
| `criss_cross` | the one base of several nearest common ancestors |
| `kept_out` | what is shared no more and stays in the folder |
| `unnamed` | what a commit takes in or takes away only where a person named it |
| `gone_desks` | what waits for a word while the folder of another desk is gone |
"""
