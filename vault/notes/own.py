"""The notes of a vault about itself, what it has told, and what it wrote beside its store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from vault.notes.forms import a_count, a_number, a_text, counts, json_of, lines, string, words
from vault.notes.note import Form, Note, Rotten
from vault.records import RecordHash

__all__ = [
    "CONFLICTS_UNHEARD",
    "COPIES_WANTED",
    "EPOCH",
    "FOUNDING",
    "FOUNDING_PLEX",
    "GENERATION",
    "GROUP",
    "HELD_BACK",
    "INSTANCE",
    "LATE",
    "LATE_FROM",
    "MOST_COPIES_WANTED",
    "MOST_LATE",
    "MOST_NOWHERE",
    "NAME",
    "NODE",
    "NOWHERE",
    "PUT_ASIDE",
    "RELEASE_UNANSWERED",
    "TOLD_DRAFTS",
    "UNANSWERED",
    "UNHEARD_SINCE",
    "WRITTEN_CONFIG",
    "WRITTEN_CONFIG_BEFORE",
    "WRITTEN_READABLE",
    "Unanswered",
]

MOST_COPIES_WANTED = 10_000  # contents wanted at once; a later prune asks for more
MOST_LATE = 256  # numbers that are noted; the last ones stay
MOST_NOWHERE = 32  # scopes; the last ones stay
_SUM_DIGITS = 16
_WORD = 128  # characters of a hash text, a verifier, a name of 64 bytes or a group id
_IDENTITY = 4 * _WORD
_ALWAYS = "Never; a vault that goes on as a new node writes it anew."
_BEGINNINGS = ("vault.beginning", "vault.fsck.identity")
_ADOPTING = "lazy.belonging.adopting"


# Whose vault it is: everything rests on these, so each but the last two is compared with the records, and told by them
# again

NODE: Final = Note(
    "node",
    a_text("a verifier", longest=_IDENTITY),
    "The node of this vault.",
    _ALWAYS,
    (*_BEGINNINGS, _ADOPTING),
    rotten=Rotten.TOLD_AGAIN,
)
NAME: Final = Note(
    "name",
    a_text("a name", longest=_IDENTITY),
    "The person's name, as friends see it.",
    _ALWAYS,
    (*_BEGINNINGS, _ADOPTING),
    rotten=Rotten.TOLD_AGAIN,
)
GROUP: Final = Note(
    "group",
    a_text("a group id", longest=_IDENTITY),
    "The full id of the group.",
    "Never.",
    _BEGINNINGS,
    rotten=Rotten.TOLD_AGAIN,
)
FOUNDING: Final = Note(
    "founding",
    a_text("a hash text", longest=_IDENTITY),
    "The founding record; empty while it has not come.",
    "Never.",
    (*_BEGINNINGS, "lazy.receiving.receive"),
    rotten=Rotten.TOLD_AGAIN,
)
FOUNDING_PLEX: Final = Note(
    "founding_plex",
    a_text("43 characters of B64A", longest=_IDENTITY),
    "The digest of the only founding record that is believed.",
    "Never.",
    _BEGINNINGS,
    rotten=Rotten.TOLD_AGAIN,
)
INSTANCE: Final = Note(
    "instance",
    a_text("32 hex digits", longest=_IDENTITY),
    "Which mark beside the key is this vault's.",
    _ALWAYS,
    (*_BEGINNINGS, _ADOPTING),
    rotten=Rotten.TOLD_AGAIN,
)
EPOCH: Final = Note(
    "epoch",
    a_text("32 hex digits", longest=_WORD),
    "The life of the exposure log: cursors of another epoch are not believed.",
    "Each repair gives another one.",
    ("vault.beginning", "vault.fsck.repair"),
    rotten=Rotten.WRITTEN_ANEW,
)
GENERATION: Final = Note(
    "generation",
    a_text("a decimal number", longest=_WORD),
    "How many transactions changed anything.",
    "Never.",
    ("vault.store.cache",),
    rotten=Rotten.WRITTEN_ANEW,
)


# Kept answers: lost, they are made anew


def _answer(verb: str) -> Note[str]:
    return Note(
        verb,
        a_text("generation, what else it rests on, JSON, text and coloured text, NUL between"),
        f"The last answer of `lace {verb}`, which counts while its generation is the store's.",
        "The next answer takes its place.",
        ("lazy.remembered",),
        names_content=False,
    )


_STATUS: Final = _answer("status")
_QUEUE: Final = _answer("queue")
_CONFLICTS: Final = _answer("conflicts")
_VECTORS: Final = _answer("vectors")
_CHANGES: Final = _answer("changes")


# What was told, and what was not


def _refusal(found: Any) -> Mapping[str, str] | None:
    if found.keys() != {"code", "message", "hint"} or not all(isinstance(text, str) for text in found.values()):
        raise ValueError(found)
    told: Mapping[str, str] = found
    return told


_HELD_BACK: Form[Mapping[str, str] | None] = json_of(
    "an object of `code`, `hint` and `message`", None, _refusal, sort_keys=True
)
HELD_BACK: Final = Note(
    "held back",
    _HELD_BACK,
    "Why nothing may be signed, if the mark refused when it was asked last.",
    "The next write that may sign empties it.",
    ("vault.vault",),
)


def _shown(found: Any) -> tuple[int, tuple[int, ...]] | None:
    top, aside = found
    if any(type(number) is not int or not 0 <= number < 2**63 for number in (top, *aside)):
        raise ValueError(found)
    return top, tuple(aside)


_UNHEARD: Form[tuple[int, tuple[int, ...]] | None] = json_of("a list of a number and a list of numbers", None, _shown)
UNHEARD_SINCE: Final = Note(
    "unheard since",
    _UNHEARD,
    "Which releases were visible when a visit last told what came: all up to a position but for some.",
    "A visit that tells of all drops it.",
    ("lazy.visits.unheard",),
)
CONFLICTS_UNHEARD: Final = Note(
    "conflicts unheard",
    words("ids of conflicts, the oldest first", string),
    "The conflicts that were new to visits which told nobody.",
    "A visit that tells of all drops it.",
    ("lazy.visits.unheard",),
)
TOLD_DRAFTS: Final = Note(
    "told drafts",
    lines("desk and number", string),
    "The lost drafts that the last report of a check named: a repair that is asked for again lets them go.",
    "Each report writes it anew, and that repair empties it.",
    ("vault.fsck.drafts",),
)
PUT_ASIDE: Final = Note(
    "put aside",
    words("hash texts", RecordHash.parse, lambda record: record.text),
    "The damaged records that a repair took out and nobody has looked for yet.",
    "Emptied once they were looked for at every place.",
    ("vault.fsck.repair",),
)


class Unanswered(NamedTuple):
    """What came of an act of which nobody was told.

    Args:
        after: the last number of the audit trail, when it was done.
        asked: its words, as JSON holds them.
        made: what came of it, as JSON holds it.
        moves: the desk whose folder follows, and the trees before (or empty) and after; nothing where none does.
    """

    after: int
    asked: list[Any]
    made: dict[str, Any]
    moves: list[str]


def _sum_of(plain: list[Any]) -> str:
    """Return what tells that no letter rotted of words that only the verb itself understands."""
    import json  # hardly any command was cut off

    from blake3 import blake3

    return blake3(json.dumps(plain).encode()).hexdigest()[:_SUM_DIGITS]


def _unanswered(found: Any) -> Unanswered | None:
    after, asked, made, moves, *sums = found
    if sums and sums != [_sum_of(found[:-1])]:  # an earlier lace noted none
        raise ValueError(found)
    if type(after) is not int or not isinstance(asked, list) or not isinstance(made, dict):
        raise ValueError(found)
    if not isinstance(moves, list) or len(moves) not in {0, 3}:
        raise ValueError(found)
    for tree in filter(None, moves[1:]):
        RecordHash.parse(tree)
    return Unanswered(after, asked, made, [*map(string, moves)])


_UNANSWERED: Form[Unanswered | None] = json_of(
    "a list of five: the last number of the audit trail; the words that it was given; what it came to; where it moved a"
    " folder, the desk and its trees before (or empty) and after, else none of these; and the first 16 hex digits of"
    " BLAKE3 over the other four as JSON",
    None,
    _unanswered,
    lambda found: [*found, _sum_of([*found])] if found else None,
)
UNANSWERED: Final = Note(
    "unanswered",
    _UNANSWERED,
    "The last act of a kind of which nobody was told yet.",
    "Dropped once the answer is out.",
    ("lazy.folder.unanswered",),
    of="verb",
    rotten=Rotten.REFUSED,
)
RELEASE_UNANSWERED: Final = Note(
    "unreported release",
    _UNANSWERED,
    "The same of a release, which is refused where it is made twice.",
    "Dropped once the answer is out.",
    ("lazy.folder.unanswered",),
)


# How far the exposure log was gone through

LATE: Final = Note(
    "late",
    words("numbers", a_count, most=MOST_LATE),
    "The numbers of the exposure log after which content came that shared records reached and that was missing here,"
    f" at most {MOST_LATE}.",
    "The oldest go for newer ones.",
    ("vault.late_content",),
)
LATE_FROM: Final = Note(
    "late-from",
    a_number(),
    "From which number on that was noted; it is not there in a vault of an earlier version.",
    "Never.",
    ("vault.late_content", "vault.store.schema"),
)
NOWHERE: Final = Note(
    "nowhere",
    counts("numbers by path and the names of the desks, LF between", MOST_NOWHERE),
    "Up to which number of the exposure log nothing shared lies at a path that a sync was about, for at most"
    f" {MOST_NOWHERE} of them.",
    "The oldest go for newer ones.",
    ("lazy.visits.scoping",),
)
COPIES_WANTED: Final = Note(
    "copies wanted",
    words("hash texts", RecordHash.parse, lambda record: record.text, most=MOST_COPIES_WANTED),
    f"The contents that the next visit copies into my mailbox so that a prune may let them go, at most"
    f" {MOST_COPIES_WANTED}.",
    "Each prune writes it anew, and a visit takes off what it copied.",
    ("vault.content.copies",),
)


# What lace wrote beside the store

WRITTEN_CONFIG: Final = Note(
    "written config",
    a_text("the text of config.toml"),
    "The settings file as lace last wrote it.",
    "Never.",
    ("vault.settings_file",),
)
WRITTEN_CONFIG_BEFORE: Final = Note(
    "written config before",
    a_text("the text of config.toml"),
    "The settings file that the last one took the place of.",
    "Never.",
    ("vault.settings_file",),
)


def _file(line: str) -> tuple[str, ...]:
    name, *sums = line.split(" ")
    if not 1 <= len(sums) <= 2 or ".." in name:
        raise ValueError(line)
    return (name, *sums)


WRITTEN_READABLE: Final = Note(
    "written readable",
    lines(
        "a path and the first 32 hex digits of BLAKE3 over the file, after another space those of what it took the"
        " place of",
        _file,
        " ".join,
    ),
    "The files of `lazy/` as lace last wrote them.",
    "Never.",
    ("vault.readable_files",),
)
