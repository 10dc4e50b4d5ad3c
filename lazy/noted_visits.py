"""What the store notes of the last visit to a place, as far as it can be read, and the command for the next one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vault.commands import as_typed, words_of

__all__ = ["noted_problems", "noted_summary", "sync_command", "synced"]


def sync_command(name: str) -> str:
    """Return the command that syncs with a place or peer, as it is typed: a name may hold a space or begin with a dash.

    >>> sync_command("-x")
    'lace sync -- -x'
    """
    return as_typed("sync", name)


def noted_summary(text: object) -> dict[str, Any]:
    """Return what was noted of a visit; nothing of a note that rotted, as the next visit writes it anew (APP-13)."""
    try:
        told = json.loads(str(text))
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def noted_problems(summary: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Return code and peer of each problem that was noted of a visit."""
    told = summary.get("problems")
    problems = [problem for problem in told if isinstance(problem, dict)] if isinstance(told, list) else []
    return {(str(problem.get("code", "")), str(problem.get("peer", ""))) for problem in problems}


def synced(command: str) -> str:
    """Return the place or peer that a `sync_command` is about; empty for any other command."""
    words = words_of(command)
    return words[-1] if words[:2] == ["lace", "sync"] and len(words) > len(("lace", "sync")) else ""
