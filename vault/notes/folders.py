"""The notes of desks and their folders."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from vault.desks.paths import split_path
from vault.notes.forms import a_count, a_hash, json_of, rows, string
from vault.notes.note import Form, Note, Rotten
from vault.records import RecordHash

__all__ = [
    "AROUND",
    "BROUGHT_PATHS",
    "FORMER",
    "FORMER_BEFORE",
    "LEFT_AS_SAVED",
    "LEFT_BEHIND",
    "LOOKED",
    "LOOKED_UNTIL",
    "MOST_BROUGHT_PATHS",
    "TOTALS",
    "BroughtPath",
    "DeskAround",
    "Totals",
]

MOST_BROUGHT_PATHS = 64  # of one desk; of those before it is only asked more than need be
_LEFT_MOST = 100_000  # more than a folder ever has


# What a folder holds, and where that came from


class BroughtPath(NamedTuple):
    """A path of a desk, and where it was brought from.

    Args:
        path: of a file or folder of the desk.
        commit: that it was brought from; None where a person chose a state that is no newest.
        source: the same commit, whatever it is; None where an earlier version of lace did not note it.
    """

    path: str
    commit: RecordHash | None
    source: RecordHash | None

    def holds(self, path: str) -> bool:
        """Tell whether a path is this one or below it."""
        return f"{path}/".startswith(f"{self.path}/")


def _brought(path: object, commit: object, *source: object) -> BroughtPath:
    found = (RecordHash.parse(string(text)) if text else None for text in (commit, (*source, commit)[0]))
    return BroughtPath(string(path), *found)


BROUGHT_PATHS: Final = Note(
    "parts",
    rows(
        "path, hash text of the commit, empty where it was chosen before the newest of its line, and hash text of the"
        " commit whatever it is, which earlier versions did not note; the newest last",
        _brought,
        lambda brought: [brought.path, *(one.text if one else "" for one in brought[1:])],
        MOST_BROUGHT_PATHS,
        ensure_ascii=True,
    ),
    f"What was brought into the folder by path from a commit, at most {MOST_BROUGHT_PATHS} paths.",
    "The oldest go for newer ones.",
    ("vault.folder.brought_paths",),
    of="desk",
)


class DeskAround(NamedTuple):
    """Where the folder of a new desk was a part of another one.

    Args:
        desk: that one.
        commit: what its folder stood on.
        path: of the new desk's folder in it.
    """

    desk: str
    commit: RecordHash
    path: str


def _desk_around(desk: object, commit: object, path: object) -> DeskAround:
    return DeskAround(string(desk), RecordHash.parse(string(commit)), string(path))


def _desks_around(found: Any) -> tuple[DeskAround, ...]:
    if found and isinstance(found[0], str):  # of an earlier lace, which noted the innermost alone
        found = [found]
    return tuple(_desk_around(*one) for one in found)


_AROUND: Form[tuple[DeskAround, ...]] = json_of(
    "a list of desk, hash text of the commit that its folder stood on, and path there, the innermost first",
    (),
    _desks_around,
    lambda found: [[one.desk, one.commit.text, one.path] for one in found],
    ensure_ascii=False,
)
AROUND: Final = Note(
    "from around",
    _AROUND,
    "Where the folder of a new desk was a part of others.",
    "Never: an undo may take back what a friend's line brought.",
    ("vault.folder.desks_around",),
    of="desk",
)


def _left(path: object, owner: object, tree: object) -> tuple[str, str, RecordHash]:
    return "/".join(split_path(string(path))), string(owner), RecordHash.parse(string(tree))


LEFT_BEHIND: Final = Note(
    "left behind",
    rows("path, owner and tree", _left, lambda row: [row[0], row[1], row[2].text], _LEFT_MOST),
    "What a desk has of folders of others that were moved: their rules hold for it on.",
    "Emptied where a repair finds that nothing was left.",
    ("vault.folder.desk_moves",),
    of="desk",
    rotten=Rotten.REFUSED,
)


class Totals(NamedTuple):
    """What a tree came to.

    Args:
        tree: which.
        files: how many it holds.
        bytes: of their content.
    """

    tree: RecordHash
    files: int
    bytes: int


def _totals(text: str) -> Totals:
    tree, files, size = text.split(" ")
    return Totals(RecordHash.parse(tree), a_count(files), a_count(size))


_TOTALS: Form[Totals | None] = Form(
    "hash text, number of files and bytes, one space between",
    None,
    _totals,
    lambda found: f"{found.tree.text} {found.files} {found.bytes}" if found else "",
)
TOTALS: Final = Note(
    "totals",
    _TOTALS,
    "What the tree came to that was released last.",
    "The next release takes its place.",
    ("vault.content.totals",),
    of="desk",
    names_content=False,
)


# Looking at another state, and rules that hold on


def _formers(text: str) -> tuple[tuple[str, str], ...]:
    parts = iter(text.split("\0"))
    return tuple((part, "") if part else (next(parts, ""), next(parts, ""))[::-1] for part in parts)


def _former_text(former: tuple[tuple[str, str], ...]) -> str:
    return "\0".join(part for rules, below in former for part in (*(("", below) if below else ()), rules))


_FORMER: Form[tuple[tuple[str, str], ...]] = Form(
    "rule files, NUL between them; before those of a folder around an empty one and where; no rules hold NUL",
    (),
    _formers,
    _former_text,
)
FORMER: Final = Note(
    "former rules",
    _FORMER,
    "The rule files that a checkout or an update took out of the folder, at most 8 and the newest last.",
    "A commit that finds nothing that they keep out empties it.",
    ("vault.folder.held_rules",),
    of="desk",
    apart=("before the look at",),
)
FORMER_BEFORE: Final = Note(
    "former rules before the look at",
    _FORMER,
    "Those that hold again once the folder looks at another state no more.",
    "The next look writes it anew.",
    ("vault.folder.held_rules",),
    of="desk",
)
LOOKED: Final = Note(
    "looked at",
    a_hash("P"),
    "The tree of another state that a checkout brought into the folder to be looked at, whose files the former rules do"
    " not keep out; where no commit has it, as after an undo, a prune leaves no more of it than its lists.",
    "Emptied once the folder is back, or is committed as a whole.",
    ("vault.folder.held_rules",),
    of="desk",
    rotten=Rotten.REFUSED,
    names_content=False,
    apart=("until",),
)
LOOKED_UNTIL: Final = Note(
    "looked at until",
    a_hash("P"),
    "What the folder looked at until that commit was made.",
    "Dropped once that commit is taken back.",
    ("vault.folder.held_rules",),
    of="commit",
    names_content=False,
)
LEFT_AS_SAVED: Final = Note(
    "left as saved",
    a_hash("P"),
    "The tree of an update of which only files are left that were saved while it was written and wait for a person; it"
    " counts while the row in `unfinished` goes to that tree.",
    "Dropped once more is to be written, or nothing.",
    ("vault.folder.meanwhile",),
    of="desk",
)
