"""A check or a repair of the whole vault, as a command and the app ask for it and tell of it (APP-13, CYB-11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

from lazy.mend import examine, mend
from lazy.receiving.quarantine import refused_count
from vault.config import ConfigDamaged
from vault.errors import LaceError
from vault.fsck.drafts import note_told
from vault.fsck.repair import REJOIN
from vault.fsck.report import BadThing, FsckReport
from vault.fsck.unopened import DAMAGED, MendedFirst
from vault.identity.mark import MayNotSign
from vault.plural import plural
from vault.settings_file import can_restore
from vault.store.database import StoreDamaged
from vault.vault import Vault

if TYPE_CHECKING:
    from vault.watch import Watch

__all__ = ["Checked", "checked", "checked_lines", "tell"]

_MAY_NOT_SIGN = {error.code for error in MayNotSign.__subclasses__()}
_STORE = "store.db"  # and its head: what else was put aside is of records

Tone = Literal["bad", "good", "note", "plain"]
"""What a line of a report says: that something is wrong, that something is right, or what may be meant so."""


class Checked(NamedTuple):
    """What a check or a repair came to.

    Args:
        report: it.
        aside: names of what repairs put aside and still lies there, sorted.
        helps: whether a repair does something about what is wrong.
        is_repair: whether it was one.
        refused: how many records are not taken, as far as that is remembered; it is nothing wrong with the vault.
    """

    report: FsckReport
    aside: tuple[str, ...]
    helps: bool
    is_repair: bool
    refused: int = 0


def _check_all(vault: Vault, watch: Watch, *, repairing: bool, first: MendedFirst) -> Checked:
    """Check the vault, or repair it.

    Args:
        vault: opened to be mended.
        watch: for progress, and for cancelling.
        repairing: whether it is repaired.
        first: what was done before it was opened.

    Raises:
        StoreDamaged: what is in the file cannot be read.
        Locked, Cancelled, StoreUnwritable, NotWritable, DiskFull: as `lazy.mend.examine` and `lazy.mend.mend`.
    """
    report = mend(vault, watch=watch) if repairing else examine(vault, watch=watch)
    report = report._replace(repaired=(*first.mended, *report.repaired), notes=(*first.left, *report.notes))
    aside = vault.dot / DAMAGED
    names = sorted(path.name for path in aside.iterdir()) if aside.is_dir() else []
    helps = any(_is_mended_here(vault, thing) for thing in report.bad)
    return Checked(report, tuple(names), helps, repairing, refused_count(vault))


def checked(
    opened: Callable[[], AbstractContextManager[Vault]],
    watch: Watch,
    *,
    repairing: bool,
    first: MendedFirst = MendedFirst(),
) -> Checked:
    """Open a vault and check or repair it, as far as it goes, after what was done before it is opened.

    Raises:
        StoreDamaged: the file cannot even be opened; its hint is the way out from there.
        Locked, Cancelled, StoreUnwritable, NotWritable, DiskFull: as `lazy.mend.examine` and `lazy.mend.mend`.
    """
    try:
        with opened() as vault:
            return _check_all(vault, watch, repairing=repairing, first=first)
    except StoreDamaged as error:
        raise _way_out(error, repairing=repairing, first=first) from error


def _way_out(error: StoreDamaged, *, repairing: bool, first: MendedFirst) -> StoreDamaged:
    """Return the same with another way out where it names the very act that failed, or that act was not all done."""
    if first.left:
        return StoreDamaged(error.message, hint=first.left[0].message)
    return StoreDamaged(error.message, hint=REJOIN if repairing and error.hint == StoreDamaged.hint else error.hint)


def _is_mended_here(vault: Vault, thing: BadThing) -> bool:
    """Tell whether a repair does anything about it; what is lost of the trail or the log comes from elsewhere.

    A key is brought back or closed by its owner alone, who alone knows, too, which copy of a vault goes on.
    """
    if thing.code == ConfigDamaged.code:
        return can_restore(vault)
    if thing.code in _MAY_NOT_SIGN:
        return False
    return thing.kind not in {"audit", "key"} and (thing.kind, thing.code) != ("log", "gap")


def tell(vault: Vault, found: Checked) -> None:
    """Note that a report was told; what cannot be noted is told once more."""
    with suppress(LaceError):
        note_told(vault, found.report.bad)


def checked_lines(found: Checked, refused: str = "lace quarantine") -> Iterator[tuple[Tone, str, str]]:
    """Yield a report line by line: its tone, the word or sign in front, and a sentence, neither made harmless.

    Args:
        found: what was found.
        refused: what shows the records that were refused, where the report is read.
    """
    report, names = found.report, found.aside
    yield from (("bad", f"! {thing.kind}", thing.message) for thing in report.bad)
    yield from (("good", "repaired", thing.message) for thing in report.repaired)
    yield from (("note", "note", thing.message) for thing in report.notes)
    if found.is_repair and any(not name.startswith(_STORE) for name in names):
        yield "plain", "", "Damaged records lie in .vault/damaged and are fetched again by: lace sync"
    if _STORE in names:
        text = "The store as it rotted lies in .vault/damaged/store.db. Once you miss nothing, delete it."
        yield "plain", "", text
    if found.refused:
        is_one = found.refused == 1
        text = f"{plural(found.refused, 'record')} that came {'was' if is_one else 'were'} refused: {refused}"
        yield "plain", "", text
    if report.ok:
        done = "every view was made anew" if found.is_repair else "every view follows from them"
        yield "good", "=", f"{report.records} records are whole, and {done}."
