"""What a command and a screen say alike: foreign text made harmless, and acts, rules and states in words.

| where | what is there |
|---|---|
| `inert`, `times` | text of others made harmless, times and durations |
| `folder`, `written`, `difftext` | the folder in words: what would be shared, what an act did to it, what differs |
| `releases`, `standing` | what a release brings and does not bring, and how things stand |
| `permits`, `needed`, `left_out`, `joining` | rules, files that stay, exports that a report leaves out, who joins |
"""

from __future__ import annotations

__all__: list[str] = []
