"""`lace status` and the like asked again while nothing changed: the kept answer, without the program (LAZ-56).

What is not plainly this case goes the usual way, which also finds the words for everything that is wrong.
"""

from __future__ import annotations

import os

from lace_tui import __version__

TYPE_CHECKING = False  # `typing` takes longer to load than all the rest
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from typing import TextIO

__all__ = ["MACHINE_ID", "changes_stamp", "kept_answer", "processors", "stamp", "status_stamp"]

MACHINE_ID = "/etc/machine-id"

_VERBS = ("status", "queue", "conflicts", "vectors", "changes")  # named as in `lazy.remembered`
_SCANNING = "changes"
_DESK = "main"


def kept_answer(argv: Sequence[str], environ: Mapping[str, str], stdout: TextIO) -> bool:
    """Print the kept answer and return True, or return False when the whole program is needed."""
    words, directory = list(argv), ""
    while len(words) > 2 and words[0] == "-C" and words[1] and not words[1].startswith("~"):
        directory = os.path.join(directory, words[1])  # noqa: PTH118 - pathlib alone takes as long as the look-up
        del words[:2]
    verb = next((word for word in words if word in _VERBS), "")
    if words not in ([verb], ["--json", verb], [verb, "--json"]):
        return False
    try:
        here = os.path.join(os.getcwd(), directory) if directory else os.getcwd()  # noqa: PTH109, PTH118
        if directory and not os.path.isdir(here):  # noqa: PTH112
            return False
        folder = _vault_folder(here)
        if folder is None or (verb == _SCANNING and folder != here):  # a folder inside may be another desk's
            return False
        from lazy.remembered import opened  # other verbs do not need it

        is_colour = stdout.isatty() and not environ.get("NO_COLOR") and environ.get("TERM", "dumb") != "dumb"
        form = "json" if "--json" in words else "colour" if is_colour else "text"
        db = opened(f"{folder}/.vault/store.db")
        try:
            answer = _recalled(db, verb, folder, form, environ)
        finally:
            db.close()
        if answer is None:
            return False
        stdout.write(answer + "\n")
        stdout.flush()
    except Exception:
        return False
    return True


def _recalled(db: sqlite3.Connection, verb: str, folder: str, form: str, environ: Mapping[str, str]) -> str | None:
    from lazy.remembered import CHANGES, STATUS, recall

    if verb == STATUS:
        if _rooms(folder):  # whether an editor has their texts still is nothing to remember
            return None
        return recall(db, verb, lambda kept: status_stamp(folder, _mark_in(kept), environ), form)
    if verb != CHANGES:
        return recall(db, verb, stamp(folder), form)
    from vault.desks.glance import LOOKS, LOOKS_OF, MAX_LOOKS, is_as_scanned, told_by

    looks: dict[str, bytes] = dict(db.execute(LOOKS_OF, (_DESK, MAX_LOOKS)))
    top = looks.get(LOOKS)
    told = told_by(top)
    answer = recall(db, CHANGES, changes_stamp(folder, top), form)
    if told is None or answer is None or len(looks) == MAX_LOOKS:
        return None
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return answer if is_as_scanned(fd, told[0], looks.get, processors()) else None
    finally:
        os.close(fd)


def processors() -> int:
    """Return how many processes may run at once."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system has it
        return os.cpu_count() or 1


def stamp(folder: str) -> str:
    """Return what every kept answer depends on besides the store."""
    return f"{__version__} {folder}"


def status_stamp(folder: str, mark: str, environ: Mapping[str, str]) -> str:
    """Return what a kept status depends on besides the store: what says whether this vault may sign (APP-13).

    A copy of a vault holds the answer too, which is true of the other one alone: so it names the mark as it is beside
    the key, what says where that lies, and which machine it is. Texts that are in no draft come and go unseen, too.

    Args:
        folder: the one that is shared.
        mark: path of the vault's mark.
        environ: the environment.
    """
    home = environ.get("LACE_HOME", "")
    roots = (
        home and os.path.abspath(os.path.expanduser(home)),  # noqa: PTH100, PTH111
        *(environ.get(name, "") for name in ("XDG_DATA_HOME", "HOME")),
    )
    own = mark.rpartition("/marks/")[0] + "/machine-id"
    return "\n".join((stamp(folder), *roots, *map(_seen, (mark, MACHINE_ID, own)), *_rooms(folder), mark))


def _rooms(folder: str) -> list[str]:
    """Return the rooms of texts that are in no draft, which a status names; as a rule there are none."""
    return sorted(name for name in os.listdir(f"{folder}/.vault") if name.startswith("edit-"))  # noqa: PTH208


def _mark_in(kept: str) -> str:
    """Return the path of the mark that a kept status depends on."""
    return kept.rpartition("\n")[2]


def _seen(file: str) -> str:
    try:
        found = os.stat(file)  # noqa: PTH116
    except OSError as error:
        return f"none {error.errno}"
    return f"{found.st_ctime_ns} {found.st_mtime_ns} {found.st_size} {found.st_ino}"


def changes_stamp(folder: str, top: bytes | None) -> str:
    """Return what kept changes depend on besides the store and the folder: the settings, and the tree that was found.

    Args:
        folder: the desk's folder, which holds the vault.
        top: the look that the last scan kept for it.
    """
    from vault.desks.glance import told_by

    try:
        settings = os.stat(f"{folder}/.vault/config.toml")  # noqa: PTH116
        seen = f"{settings.st_mtime_ns} {settings.st_size} {settings.st_ino}"
    except FileNotFoundError:
        seen = "none"
    context, digest = told_by(top) or (b"", b"")
    return f"{stamp(folder)} {seen} {context.hex()} {digest.hex()}"


def _vault_folder(start: str) -> str | None:
    here = start
    while True:
        if os.path.isdir(here + "/.vault"):  # noqa: PTH112
            return here if os.path.isfile(here + "/.vault/store.db") else None  # noqa: PTH113
        above = os.path.dirname(here)  # noqa: PTH120
        if above == here:
            return None
        here = above
