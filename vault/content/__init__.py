"""Content that rests here: counted, kept, let go, packed for others.

| module | holds |
|---|---|
| `keeping`, `totals` | how long content stays, and how much of it a tree holds |
| `prune_plan`, `prune`, `reached` | letting go of old content: planned, done, and what nothing reaches any more |
| `merge_needs` | what of it a coming merge may need |
| `copies` | which of it lies elsewhere, and is copied there before it goes |
| `full_disk` | making way on a disk without a free byte |
| `archive` | a tree for people who do not use lace |
"""
