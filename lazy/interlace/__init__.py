"""The interlace exchange (Lace-040 and Lace-050): how two sets of records become one, record by record.

Two sides agree on a plan, advertise what they may send under it, ask for what they lack, validate what comes,
and go on until a fixed point. The core does no input or output: `InterlaceMachine` takes events and returns
effects, and reaches records only through a `RecordPort`. `MailboxExchange` drives the reader's side against a
published snapshot; what drives it as the documents have it, and no command does, stands in `documents`.

| module | what it knows |
|---|---|
| `states` | the phases and the whole table of transitions |
| `machine`, `establish`, `ledger`, `ticks` | one side of one link: its work, start, books, ready times |
| `selection` | what a side announces, asks for and gives out under the plan |
| `announced`, `peerstate` | what this side and the peer have announced |
| `messages`, `facts` | what is said, as values and as facts |
| `plan`, `negotiate`, `limits` | what both sides agree on |
| `ads` | advertisements, digests, partitions, Merkle roots |
| `port`, `link`, `result`, `reasons`, `errors` | what goes in from the vault and comes out |
| `mailbox` | the driver against a published snapshot |
| `policy`, `scope` | modules that are rule programs; desks and paths as one of them |
| `tiers` | learning a peer's advertisements at less than the cost of a listing |
| `documents` | both sides here, blocks, streams, exchanges that stay open, operations: run by no command |

Names are imported from their modules: a visit that finds nothing new knows what a plan is, and runs no machine.
"""
