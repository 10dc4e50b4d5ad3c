"""A rule about who may write and who may read at a path, in words and as plain values (CLAY-80)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lace_tui.words.inert import inert
from lazy.people import label_of

if TYPE_CHECKING:
    from vault.permits import Permit
    from vault.vault import Vault

__all__ = ["permit_text", "permit_values"]


def permit_values(vault: Vault, rule: Permit) -> dict[str, Any]:
    """Return a rule as JSON has it."""
    return {
        "path": rule.path,
        "act": rule.act,
        "list": "only" if rule.is_white else "not",
        "names": [label_of(vault, node) for node in rule.nodes],
        "nodes": list(rule.nodes),
    }


def permit_text(vault: Vault, rule: Permit) -> str:
    """Return a rule as one line, without control characters."""
    others = [node for node in rule.nodes if node != vault.node.text]  # I always may
    names = ", ".join(inert(label_of(vault, node)) for node in others)
    if rule.is_white:
        who = f"you and {names}" if names else "you alone"
    else:
        who = f"everybody but {names}" if names else "everybody"
    return f"{inert(rule.path or '.')}  {rule.act}  {who}"
