"""The rows of Home: each part of a view as a sign, a word and a few facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from lace_tui.keys.keymap import key_of
from lace_tui.model.view import FILES_LIMIT, NeedKind, ago
from lace_tui.screens.marks import BAD, GOOD, NOTE, PLAIN, QUIET, STRONG, mark, rows
from lace_tui.words.inert import inert
from lazy.noted_visits import sync_command
from vault.commands import as_typed
from vault.plural import more_lines, plural

if TYPE_CHECKING:
    from lace_tui.model.view import Came, HomeView, Need, PeerView, PlaceView, Reach
    from lazy.belonging.beacon import SeenBeacon

__all__ = [
    "ENCRYPTED",
    "FOLDER",
    "calm",
    "came_detail",
    "came_row",
    "header",
    "meet_detail",
    "need_row",
    "peer_row",
    "place_row",
]

FOLDER = 3
"""The folder's name among the parts of the header."""

ENCRYPTED = "what you put there only members can read"
"""What it means that a place is encrypted."""

_WRITTEN = frozenset({"drop", "git"})  # kinds of places that this vault writes to
_TITLE = 200  # cells of a message in a row; its page shows more


def header(view: HomeView) -> list[tuple[int, Content]]:
    """Return the header's parts; the number of conflicts is the last to go, and the folder's name yields to counts."""
    trouble = mark(f"! {plural(view.conflicts, 'conflict')}", BAD) if view.conflicts else mark("0 conflicts", QUIET)
    return [
        (4, mark("lace", STRONG)),
        (FOLDER, mark(view.folder, STRONG)),
        (5, mark(f"you: {view.you}@{view.host}")),
        (0, trouble),
        (1, mark(f"^ {view.waiting} waiting", NOTE) if view.waiting else mark("0 waiting", QUIET)),
        (2, mark(f"v {view.new} new", NOTE) if view.new else mark("0 new", QUIET)),
    ]


def place_row(view: PlaceView, reach: Reach | None, home: HomeView) -> Content:
    """Return a place: whether it is here, whom it serves, what waits, and the last visit."""
    sign, text, style = _reach(reach)
    kind = f"{view.place.kind}, encrypted" if view.is_encrypted else view.place.kind
    first = mark(view.place.name, STRONG) + mark(f"  {kind}  ", QUIET) + mark(f"{sign} {text}", style)
    facts = [f"synced {ago(view.last_sync, home.now_ns)}" if view.last_sync else "never synced"]
    if view.to_send:
        facts.append(f"{view.to_send} to send")
    # The longest comes last, where it may be cut.
    facts.append(f"serves {', '.join(view.serves)}" if view.serves else "serves nobody yet")
    told = [mark(f"  ! {message}", BAD) for message, _ in view.trouble_at(reach)[:1]]
    return rows(first, mark("  " + ", ".join(facts), QUIET), *told)


def _reach(reach: Reach | None) -> tuple[str, str, str]:
    if reach is None:
        return ".", "looking", QUIET
    if reach.is_here is None:
        return "-", reach.text, PLAIN
    return ("*", reach.text, GOOD) if reach.is_here else ("o", reach.text, QUIET)


def peer_row(view: PeerView, home: HomeView) -> Content:
    """Return a peer: how it stood when last read, what it released, what it has not confirmed."""
    status = view.status
    if status.last_sync is None:
        state = mark("? not met yet", QUIET)
    elif status.behind:
        state = mark(f"v has {status.behind} that you lack", NOTE)
    elif status.ahead:
        state = mark(f"^ lacks {status.ahead} that you have", NOTE)
    elif status.is_silent:
        state = mark(f"? no news since {ago(status.heard, home.now_ns)}", QUIET)
    else:
        state = mark("= in step", GOOD)
    facts = [f"released {status.versions}"] if status.versions != "none" else []
    if status.waiting:
        facts.append(f"{plural(status.waiting, 'release')} not all here")
    facts = facts or ["released nothing"]
    if view.waiting:
        facts.append(f"{view.waiting} waiting")
    facts.append(f"read {ago(status.last_sync, home.now_ns)}" if status.last_sync else "never read")
    told = [mark(f"  ! {status.clock.text}", BAD)] if status.clock is not None else []
    first = mark(status.name, STRONG) + mark("  peer  ", QUIET) + state
    return rows(first, mark("  " + ", ".join(facts), QUIET), *told)


def came_row(came: Came, home: HomeView) -> Content:
    """Return a friend's release: who, version, how much, and the message."""
    first = mark(came.who, STRONG) + mark(f"  {came.what}  ")
    first += mark(f"{_files(came)}, {ago(came.when, home.now_ns)}", QUIET)
    title, _, more = came.message.partition("\n")
    title = inert(title + (" ..." if more else ""), _TITLE)
    second = mark(f'  "{title}"' if came.message else "  no message")
    if came.contested:
        second = mark("  ! in conflict", BAD) + second
    if came.kept_out:
        second = mark("  o kept out by your rules", NOTE) + second
    return rows(first, second)


def _files(came: Came) -> str:
    if not came.files:
        return "no file changed"
    return f"{FILES_LIMIT} or more files" if came.files >= FILES_LIMIT else plural(came.files, "file")


def came_detail(came: Came, home: HomeView) -> tuple[str, ...]:
    """Return all that is known of a friend's release, line by line."""
    lines = [
        f"{came.what} by {came.who}, {ago(came.when, home.now_ns)}",
        *(came.message.splitlines() or ["no message"]),
    ]
    lines.append(f"{_files(came)} changed:" if came.files else "No file changed.")
    lines += [f"  {path}" for path in came.paths]
    lines += more_lines(came.files, len(came.paths))
    if came.contested:
        lines.append("An open conflict keeps it out of your folder.")
    if came.kept_out:
        lines.append("Your rules of who may write keep it out of your folder. What lets it in, before an update:")
    return tuple(lines)


def need_row(need: Need, keys: Mapping[str, str]) -> Content:
    """Return what waits for a person, with its command; `keys` are those that the person changed."""
    sign = "?" if need.kind in {NeedKind.PROPOSAL, NeedKind.REQUEST, NeedKind.DESK} else "!"
    first = mark(f"{sign} {need.title}", BAD if need.kind in {NeedKind.CONFLICT, NeedKind.HELD_BACK} else NOTE)
    return rows(first, mark(f"  {need.facts}", QUIET), mark(f"  {_or_key(need.command, keys)}"))


def _or_key(command: str, keys: Mapping[str, str]) -> str:
    """Return a command that has its placeholders still, with the key that asks for them here."""
    return f"{key_of('new-place', keys)} here, or {command}" if command.startswith("lace place add") else command


def calm(view: HomeView) -> Content:
    """Say that all is well, but only when it is."""
    met = [peer.status for peer in view.peers]
    in_step = all(peer.last_sync and not (peer.behind or peer.ahead or peer.waiting or peer.is_silent) for peer in met)
    if not met or not in_step or view.conflicts or view.new or view.waiting:
        return mark("= Nothing needs a decision.", GOOD)
    return mark("= Nothing: you are in step with everybody.", GOOD)


def meet_detail(key: str, target: str, view: HomeView, reach: Mapping[str, Reach]) -> tuple[str, tuple[str, ...], str]:
    """Return title, lines and command of a place or a peer."""
    kind, _, name = key.partition(" ")
    if kind == "place":
        from transports.address import as_read  # no part of the first frame

        place = next(place for place in view.places if place.place.name == name)
        seen = reach.get(name)
        lines: tuple[str, ...] = (
            f"{name}: {as_read(place.place.uri)}",
            *([f"Encrypted: {ENCRYPTED}"] if place.is_encrypted else _open_lines(place)),
            f"Now: {seen.text if seen else 'looking'}",
            f"Serves: {', '.join(place.serves) or 'nobody yet'}",
            f"Waiting to be sent there: {place.to_send or 'nothing'}",
            f"Last sync: {_when(place.last_sync, view)}",
            *(
                line
                for message, hint in place.trouble_at(seen)
                for line in (f"! {message}", f"  {hint}")
                if line.strip()
            ),
        )
        return "A place", lines, sync_command(name)
    from lace_tui.model.deeds import words_of  # no part of the first frame
    from lazy.clocks import CLOCK_HINT  # likewise

    peer = next(peer for peer in view.peers if peer.status.node == name)
    clock = peer.status.clock
    lines = (
        peer.status.name,
        f"Key: {peer.status.node}",
        f"Words: {words_of(peer.status.node)}",
        f"Releases here: {peer.status.versions}",
        *((f"Not all here: {plural(peer.status.waiting, 'release')}, see: lace links",) if peer.status.waiting else ()),
        f"Has that you lack: {peer.status.behind}; lacks that you have: {peer.status.ahead}",
        f"Not confirmed by them: {peer.waiting}",
        f"Not released by them, so they say: {peer.status.unreleased}",
        f"Met at: {', '.join(peer.places) or 'no place yet'}",
        f"Last read: {_when(peer.status.last_sync, view)}",
        f"Its own last word: {_when(peer.status.heard, view)}",
        *_said(peer.status.beacon),
        *((f"! {clock.text}", f"  {CLOCK_HINT}") if clock is not None else ()),
    )
    return "A peer", lines, sync_command(target)


def _open_lines(place: PlaceView) -> list[str]:
    """Return that others can read what lies at a place, and what ends that, where this vault writes there."""
    if place.place.kind not in _WRITTEN:
        return []
    return [
        f"Whoever reaches it can read it; {as_typed('place set', place.place.name, options='--encrypt')} ends that."
    ]


def _when(iso: str | None, view: HomeView) -> str:
    from lace_tui.words.times import moment  # no part of the first frame

    return f"{moment(iso)}, {ago(iso, view.now_ns)}" if iso else "never"


def _said(seen: SeenBeacon | None) -> tuple[str, ...]:
    """Return what a peer says of itself, with the day it is said to be from."""
    return () if seen is None else (f"Of itself it {seen.words}",)
