"""What the documents say of an exchange beyond what a command runs, in executable form (docs/decisions.md 27).

No command runs any of it, and no other module of lace imports it: the tests, the simulator and the fuzzers do, and two
programs of different makers could speak it.

| module | what it knows |
|---|---|
| `engine` | both sides in one process, over serialised blocks |
| `wire` | messages as blocks of facts, and back |
| `open_machine`, `opened` | a side that stays open, and two of them together |
| `stream` | an exchange as one stream of bytes each way |
| `operations` | get, list, store, push, pull, sync as policies over a selected set |
"""
