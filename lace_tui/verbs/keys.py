"""`lace keys`: the one table of what the app can do, with this person's own keys (APP-1)."""

from __future__ import annotations

import argparse

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer, Paint
from lace_tui.keys.actions import ACTIONS, Scope, actions_of
from lace_tui.keys.keymap import keys_of, shown_keys
from lace_tui.keys.taste import read_taste
from lace_tui.words.inert import inert

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, _verb: str) -> None:
    """Take no arguments."""


def run(context: Context, _args: argparse.Namespace) -> Answer:
    """Print every action with its keys, those the person changed included, and what is wrong in their file."""
    taste = read_taste(context.config_root)
    data = [
        {
            "id": action.id,
            "scope": action.scope.value,
            "keys": list(keys_of(action, taste.keys)),
            "changed": action.id in taste.keys,
            "title": action.title,
            "sentence": action.sentence,
            "command": action.cli,
        }
        for action in ACTIONS
    ]

    def text(paint: Paint) -> str:
        parts = []
        for scope in Scope:
            lines = [paint.strong(scope.value.capitalize())]
            for action in actions_of(scope):
                sign = "*" if action.id in taste.keys else " "
                keys = inert(shown_keys(action, taste.keys))
                lines.append(f" {sign}{action.id:<20} {keys:<12} {action.sentence}")
            parts.append("\n".join(lines))
        parts += [inert(f"! {remark}") for remark in taste.remarks]
        path = inert(str(context.config_root / "config.toml"))
        parts.append(f"Change keys by name below [keys] in {path}" + (" (* is yours)." if taste.keys else "."))
        return "\n\n".join(parts)

    return Answer({"actions": data, "remarks": list(taste.remarks)}, text)
