"""One visit to a place, from the plan to the end of the round.

| module | holds |
|---|---|
| `errand`, `terms`, `scoping` | what a visit is for, what this side says, and narrowing what is fetched |
| `plans`, `estimate` | what a visit would move, and how long that takes on a link |
| `visit`, `rounds` | a visit as it is carried out, and what each round begins and ends with |
| `visit_end`, `next_command` | how a visit ends, and which command a person wants then |
| `passes` | the mailboxes of a medium, read until nothing new comes |
| `unheard` | what came with a visit that was cut off before it told of it |
| `publish`, `additions`, `located`, `my_mailbox`, `room` | what I share, brought into my mailbox there, where it fits |
| `sending` | what of that goes with a visit, settled and counted beforehand |
| `my_head` | the head of my mailbox, as it is made, shown and noted |
| `own_copies`, `copying` | what lies in bundles of mine, and copying there what a prune waits for |
| `only_there` | what only a mailbox of mine has, carried over where that one goes away |
| `exchange`, `transfer`, `mailbox_port`, `listing_parts`, `owners` | reading the mailbox of somebody, and whose it is |
| `drops` | the drops that are plugged in |
| `carry`, `needs`, `parcels` | the same by one file, what its reader must have, or by records carried by hand |
| `rot`, `markers` | healing my own mailboxes, and what says which place each lies at |
"""
