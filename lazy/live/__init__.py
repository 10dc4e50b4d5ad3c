"""Live exchange: two vaults over one connection, each telling the other what is new since its cursor (decision 7, 8).

| module | holds |
|---|---|
| `reaching`, `local_vault`, `visiting`, `trips` | the side that connects: to whom, and what it says and hears a trip |
| `serving`, `answering`, `offering` | the side that listens: a vault served, one request, and its state told in tiers |
| `standing`, `presumed`, `terse` | what a side says of itself first, what the other has then, and saying it shortly |
| `cursors`, `bookmark` | how far each has read the log of the other, as it is remembered, and when that moves |
| `behind` | what follows a damaged record, and is not moved again until that is mended |
| `sending`, `intake`, `outcome` | shared records as frames, frames into the vault, and what became of them |
| `shelves`, `walking`, `port` | learning the other side's state by partitions, where there is no cursor yet |
| `news`, `own_news` | whether there is something new, there and here |
| `evidence`, `asking` | what a peer says it holds, and single records fetched from it |
"""
