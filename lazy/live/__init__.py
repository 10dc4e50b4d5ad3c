"""Live exchange: two vaults over one connection, each telling the other what is new since its cursor (decision 7, 8).

| module | holds |
|---|---|
| `standing` | what a side says of itself in the first frame, and what is remembered of a peer |
| `sending` | shared records past a cursor, or by name, as frames |
| `intake` | frames into the vault, a batch at a time |
| `reaching` | how a connection to somebody who serves, or to a vault beside mine, begins |
| `visiting` | the side that connects |
| `serving` | the side that listens |
"""
