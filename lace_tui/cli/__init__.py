"""The command line: a frame that finds the verb, and what the verbs share.

| module | holds |
|---|---|
| `frame`, `quick`, `loading` | from argv to exit code, without the program where a kept answer will do |
| `verbs`, `verbs_syncing`, `verbs_looking`, `verb`, `naming`, `foreign` | the table of verbs, and finding one in it |
| `context`, `output`, `progress`, `keeping`, `unanswered` | the world of one command, and its answer |
| `wording`, `empty` | wrong words refused |
| `missing` | what is said of content that is not here |
| `folder`, `difftext`, `changesets` | paths as they are typed, differences on a terminal, older states |
| `drafts`, `picking`, `noted_decision` | what is said of a conflict and its decision, and of one made again |
| `message`, `secret`, `following`, `who` | the message of a commit, a passphrase asked for, `--follow`, who is who |
"""

from __future__ import annotations

__all__: list[str] = []
