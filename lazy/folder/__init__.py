"""The shared folder and its line: what an update, a merge or an undo makes of them.

| module | holds |
|---|---|
| `update`, `coming`, `heads`, `permitted` | what an update takes in, and which heads stay out |
| `merge_analysis`, `updated`, `ended` | what is done with them, or would be; the answer; which conflicts end by it |
| `merging`, `desk_merge` | heads as one tree, by the graph or by a named strategy |
| `strategy_analysis` | what is to be done by a named strategy, for a merge and its plan alike |
| `moving`, `saving`, `written`, `left_out` | what an act would write, saves first, wrote, and left out |
| `other_state` | which state a folder looks at, as whoever releases it is told |
| `going_back`, `bringing_back`, `copying_out` | the folder, a path or a copy as any state has it |
| `checkout_files`, `had_again` | what is written for that, and what may be written over |
| `keeping` | what an act writes over, kept under a name |
| `acts`, `last_act`, `undo`, `undo_path`, `undo_look`, `only_copy` | what people do here, and back again |
| `unanswered` | after an act that nobody was told of |
| `following` | after a decision |
| `change_sets` | changes that come from a file |
"""
