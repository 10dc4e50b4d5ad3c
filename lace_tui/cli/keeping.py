"""Keeping the answer of a verb that looks at the store alone, in all forms, for the next time it is asked (LAZ-56)."""

from __future__ import annotations

from lace_tui.cli.output import Answer, Paint, as_json
from lace_tui.cli.quick import stamp
from lazy.remembered import remember
from vault.vault import Vault

__all__ = ["keep"]


def keep(vault: Vault, what: str, number: str, answer: Answer, *, depends: str = "") -> None:
    """Keep an answer, so that asking again costs next to nothing while nothing changes.

    Args:
        vault: whose answer it is.
        what: one of the names in `lazy.remembered`.
        number: the store's generation at which it was made, taken in the same read snapshot.
        answer: the verb's.
        depends: what it depends on besides the store, if that is more than `stamp`.
    """
    text = answer.text
    forms = {
        "json": as_json(answer.data),
        "text": text if isinstance(text, str) else text(Paint(is_on=False)),
        "colour": text if isinstance(text, str) else text(Paint(is_on=True)),
    }
    remember(vault, what, number, depends or stamp(str(vault.folder)), forms)
