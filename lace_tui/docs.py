"""The pages of docs/ that are lists of code: commands, errors, settings, keys, notes, and the interlace state table.

`python -m lace_tui.docs` writes them; a test fails when they are not what the code says.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

from lace_tui import tour
from lace_tui.cli.verb import FAMILIES
from lace_tui.cli.verbs import VERBS
from lace_tui.keys.actions import Scope, actions_of
from lazy.interlace.states import TRANSITIONS, Event, Other, Phase
from spark_export.audits import AUDITS
from spark_export.schema import COMMON, SCHEMA_VERSION, TABLES
from vault.config import SETTINGS, value_text
from vault.errors import all_errors
from vault.notes import folders, own, people, places, revisions, rules
from vault.notes.registry import NOTES

__all__ = ["main", "pages"]

_ROOMS = ("vault", "transports", "lazy", "spark_export", "lace_tui")
_MADE = "<!-- Written by `python -m lace_tui.docs`; edit the code instead. -->\n"


def pages() -> dict[str, str]:
    """Return the text of every generated page by its name under docs/."""
    return {name: f"{_MADE}\n{make()}" for name, make in _PAGES.items()}


def _commands() -> str:
    parts = ["# Commands\n\nGlobal options, before or after the verb: `-C DIR`, `--json`, `-q`, `-v`, `-h`.\n"]
    for family in FAMILIES:
        verbs = [verb for verb in VERBS if verb.family == family]
        if not verbs:
            continue
        rows = "".join(
            f"| `{_cell(f'lace {verb.name} {verb.arguments}'.strip())}` | {verb.sentence} | {verb.json} |\n"
            for verb in sorted(verbs)
        )
        parts.append(f"## {family}\n\n| command | what it does | `--json` |\n|---|---|---|\n{rows}")
    return "\n".join(parts)


def _errors() -> str:
    for package in _ROOMS:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    rows = "".join(
        f"| {error.exit_code} | `{error.code}` | {_sentence(error.__doc__)} | {_cell(error.hint)} |\n"
        for error in all_errors()
        if error.__module__.split(".")[0] in _ROOMS  # a test may have classes of its own
    )
    return (
        "# Errors\n\nThe exit code says who is to blame: 2 the caller, 10-19 this machine, 20-29 the place, 30-39 a"
        " peer, 40-49 the data, 130 cancelled. 0 is done; 1 is done, and a person is needed. `--json` prints the"
        f" code.\n\n| exit | code | what it means | a way out |\n|---|---|---|---|\n{rows}"
    )


def _sentence(text: str | None) -> str:
    return _cell(" ".join((text or "").split("\n\n")[0].split()))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _settings() -> str:
    rows = "".join(
        f"| `{setting.key}` | {setting.sentence} | {_cell(setting.allowed_text)} | `{value_text(setting.default)}` |\n"
        for setting in SETTINGS.values()
    )
    return (
        "# Settings\n\nKept in `.vault/config.toml`; change them with `lace config set KEY VALUE`.\n\n"
        f"| setting | what it does | values | default |\n|---|---|---|---|\n{rows}"
    )


def _interlace() -> str:
    head = "| event | " + " | ".join(phase.value for phase in Phase) + " |\n|---" * 1 + "|---" * len(Phase) + "|\n"
    rows = ""
    for event in Event:
        cells = []
        for phase in Phase:
            cell = TRANSITIONS[phase][event]
            if isinstance(cell, Phase):
                cells.append(f"**{cell.value}**")
            elif isinstance(cell, Other):
                cells.append("-" if cell is Other.IGNORE else "misuse")
            else:
                cells.append(f"abort: {cell.value}")
        rows += f"| `{event.value}` | " + " | ".join(cells) + " |\n"
    return (
        "# The interlace machine\n\nOne row an event, one column a phase: the next phase, an abort with its reason,"
        " `-` for nothing, `misuse` for what only a wrong driver can cause. Drawn from `lazy/interlace/states.py`.\n\n"
        f"{head}{rows}"
    )


_EXPORT_HEAD = """# Tables of an export

Schema version {version}. `lace export DIR` writes one Parquet file (zstd) for each state table, and one for each 65,536
arrival positions of a log table. Exports of all members lie in one directory side by side. Records join on `hash`, logs
on (`node`, `seq`).
"""


def _export() -> str:
    parts = [_EXPORT_HEAD.format(version=SCHEMA_VERSION)]
    common = "".join(f"| `{column.name}` | {column.kind} | {_cell(column.sentence)} |\n" for column in COMMON)
    parts.append(f"## Every table begins with\n\n| column | type | what it says |\n|---|---|---|\n{common}")
    for table in TABLES:
        rows = "".join(f"| `{column.name}` | {column.kind} | {_cell(column.sentence)} |\n" for column in table.columns)
        kind = "log" if table.is_log else "state"
        parts.append(
            f"## {table.name}\n\n{table.sentence} A {kind} table.\n\n"
            f"| column | type | what it says |\n|---|---|---|\n{rows}"
        )
    reports = "".join(
        f"| `{audit.name}` | {audit.question} | {'findings' if audit.finds else 'an answer'} |\n" for audit in AUDITS
    )
    parts.append(f"## Reports\n\n| `lace report` | question | rows are |\n|---|---|---|\n{reports}")
    return "\n".join(parts)


_KEYS_HEAD = """# Keys of the app

Every action has a name, under which a person gives it other keys in `config.toml` (`lace config path`) or on the
Settings page. `lace keys` prints this table with their own keys; `?` in the app searches it, and enter does what is
selected.

```toml
[keys]
sync = "s,f9"
```
"""


def _keys() -> str:
    parts = [_KEYS_HEAD]
    for scope in Scope:
        rows = "".join(
            f"| {_keycaps(action.shown)} | `{action.id}` | {_cell(action.sentence)} | {_code(action.cli)} |\n"
            for action in actions_of(scope)
        )
        parts.append(
            f"## {scope.value.capitalize()}\n\n| keys | name | what it does | by command |\n|---|---|---|---|\n{rows}"
        )
    return "\n".join(parts)


def _keycaps(shown: str) -> str:
    return " ".join(f"`{_cell(key)}`" for key in shown.split())


def _code(text: str) -> str:
    return f"`{_cell(text)}`" if text else ""


_NOTES_HEAD = """# Notes

What one vault remembers for itself and no record carries lies in the table `meta` of its store: one row a note, under
the name that is given here; where there is one note for each of something, that follows the name after a space (after
two, where it would be another note's name). An empty note holds nothing. No friend hears of any, and a text that rotted
ends no command for good.
"""


_NOTES_OF = (
    (own, "Of the vault"),
    (people, "Of who belongs"),
    (rules, "Of rules of desks"),
    (folders, "Of desks and folders"),
    (revisions, "Of kept states and of lines"),
    (places, "Of places and visits"),
)


def _notes() -> str:
    parts = [_NOTES_HEAD]
    for module, title in _NOTES_OF:
        notes = [note for note in NOTES if note in vars(module).values()]
        rows = "".join(
            f"| {_code(note.name)}{f' {note.of}' if note.of else ''} | {_cell(note.holds)} | {_cell(note.form.words)} |"
            f" {' '.join(map(_code, note.writers))} | {_cell(note.ends)} | {note.rotten.value} |\n"
            for note in notes
        )
        head = "| note | what it holds | form | written by | let go of | where it rotted |\n|---|---|---|---|---|---|\n"
        parts.append(f"## {title}\n\n{head}{rows}")
    return "\n".join(parts)


_PAGES = {
    "commands.md": _commands,
    "errors.md": _errors,
    "export.md": _export,
    "interlace.md": _interlace,
    "keys.md": _keys,
    "notes.md": _notes,
    "settings.md": _settings,
}


def main(root: Path | None = None) -> int:
    """Write the pages below docs/ and the tour of the README, and return 0."""
    top = root or Path(__file__).resolve().parent.parent
    for name, text in pages().items():
        (top / "docs" / name).write_text(text, encoding="utf-8")
    readme = top / "README.md"
    readme.write_text(tour.weave(readme.read_text("utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
