"""Floor 2: what friends do together, when they are ready: members, vectors, queue, conflicts, sync.

| where | what is there |
|---|---|
| `sync`, `strategy`, `visits`, `live` | a sync, when one begins by itself, visits to media and to those who answer |
| `places` | where those visits lead, and what is remembered of each place |
| `interlace` | how two sets of records become one |
| `receiving` | from a stranger's bytes to records that count, or to why they do not |
| `belonging`, `people` | who belongs, and the names under which people know each other |
| `conflicts`, `head_conflicts`, `conflict_sides`, `contested` | what disagrees, and who stands on which side |
| `decisions`, `decision_graph`, `decision_trees` | what was decided, if it is what it says, and what it is built on |
| `decided_above` | decisions that disagree, and a version whose sides differ in just that |
| `member_limits` | how much of one member counts about one version |
| `overtaken`, `conflict_words` | what was left behind undecided, and what a person is told of all that |
| `resolving`, `folder` | a decision as a person makes it, and what becomes of the folder |
| `vectors`, `queue`, `links`, `lacking`, `parts` | how far everybody is, what waits and what is missing |
| `status`, `log`, `why`, `remembered`, `files` | answers about all of that, kept, and as files for people |
| `relation` | how my folder stands to what friends released |
| `clocks` | whose clock is far from the one here, as the dates of releases show |
| `noted_visits`, `noted_times` | what the store notes of visits, as far as it can be read |
| `results`, `arrivals`, `endings` | what a visit came to: what it brought, and how it ended |
| `problems` | what a person is told of a visit besides, and the way out of it |
| `other_group` | what is refused because another group owns it |
| `address`, `asking`, `mend` | from a name to a state, a beacon asked for, damage healed |
"""
