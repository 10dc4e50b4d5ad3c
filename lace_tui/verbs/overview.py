"""`status`, `vectors` and `queue`: where I stand, from stored state only; no place is touched (LAZ-54 to LAZ-56)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lace_tui.cli.context import Context
from lace_tui.cli.keeping import keep
from lace_tui.cli.output import Answer, Paint
from lace_tui.cli.quick import status_stamp
from lace_tui.verbs.status import fault_data, status_data, status_text
from lace_tui.words.folder import SHOWN
from lace_tui.words.inert import inert
from lace_tui.words.standing import waiting_text
from lazy.noted_visits import sync_command
from lazy.places.registry import known_faults
from lazy.queue import QueueEntry, QueueState, queue, waiting_records
from lazy.remembered import QUEUE, STATUS, VECTORS, generation
from lazy.status import DeskStatus, refused_by_mark, status
from lazy.vectors import vectors
from vault.errors import EnvironmentFault, LaceError
from vault.folder.checkout_journal import is_unfinished
from vault.folder.meanwhile import keep_command, left_to_person

if TYPE_CHECKING:
    from vault.folder.work import Changes
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    if verb == "status":
        parser.add_argument("--tree", action="store_true", help="look at the folder too")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    with context.open_vault() as vault:
        if context.verb != "status":
            make, what = (_vectors, VECTORS) if context.verb == "vectors" else (_queue, QUEUE)
            with vault.store.reading():
                number, answer = generation(vault), make(vault)
            keep(vault, what, number, answer)
            return answer
        depends = status_stamp(str(vault.folder), str(vault.mark.path), context.environ)
        refusal = refused_by_mark(vault)  # before the reading: a mark that is older than that accuses nobody
        with vault.store.reading():
            number = generation(vault)
            found = status(vault, refusal)
        trees = None
        if getattr(args, "tree", False):
            with context.watching() as watch:
                trees = {desk.desk: _changed(vault, desk.desk, watch) for desk in found.desks}
            found = found._replace(desks=tuple(_after_look(vault, desk) for desk in found.desks))
        keeping = {desk.desk: _keeping(vault, desk) for desk in found.desks if desk.left}
        answer = Answer(status_data(found, trees), lambda paint: status_text(found, trees, paint, keeping))
        names_paths = bool(keeping) or any(desk.kept_out for desk in found.desks)
        if trees is None and not names_paths:  # how a file is named depends on where one stands
            keep(vault, STATUS, number, answer, depends=depends)
    return answer


def _after_look(vault: Vault, desk: DeskStatus) -> DeskStatus:
    """Return a desk as it is once a look at its folder finished what was cut off."""
    return desk._replace(is_unfinished=is_unfinished(vault, desk.desk), left=left_to_person(vault, desk.desk))


def _keeping(vault: Vault, desk: DeskStatus) -> str:
    """Return the command that keeps the files which an update left to a person."""
    return keep_command(vault, desk.desk, desk.left if len(desk.left) <= SHOWN else ())


def _changed(vault: Vault, desk: str, watch: Watch) -> Changes | LaceError:
    """Return what changed in a desk's folder, or why that cannot be said, which hides nothing of the other desks."""
    from vault.desk_folders import MAIN
    from vault.folder.work import changes  # status alone never looks at the folder

    try:
        return changes(vault, desk, watch)
    except EnvironmentFault as error:
        if desk == MAIN:
            raise
        return error


# Vectors and queue


def _vectors(vault: Vault) -> Answer:
    found = vectors(vault)
    data = {
        peer: {mark.node: {"seq": mark.seq, "hash": mark.hash, "forked": mark.forked} for mark in marks.values()}
        for peer, marks in found.items()
    }

    def text(paint: Paint) -> str:
        lines = []
        for peer, marks in found.items():
            lines.append(paint.strong(inert(peer)))
            lines += [
                f"  {inert(mark.name)}: {mark.seq}" + (paint.bad(" ! forked") if mark.forked else "")
                for mark in marks.values()
            ] or ["  nothing known yet"]
        return "\n".join(lines)

    return Answer({"vectors": data}, text)


def _queue(vault: Vault) -> Answer:
    entries = queue(vault)
    rows = [
        {
            "peer": entry.peer,
            "seq": entry.seq,
            "hash": entry.record,
            "what": entry.what,
            "since": entry.since,
            "state": entry.state,
            "places": entry.places,
            "reason": entry.reason,
        }
        for entry in entries
    ]
    faults, lacking = known_faults(vault), waiting_records(vault)
    lines = list(map(_queue_line, entries))
    for name in lacking if not entries else faults:
        if name in lacking:
            why = f" ({inert(faults[name].message)})" if name in faults else ""
            lines.append(f"{waiting_text(lacking[name])} for the place {inert(name)}{why}  {inert(sync_command(name))}")
    waiting = [
        {"place": name, "records": count, "fault": fault_data(faults.get(name))} for name, count in lacking.items()
    ]
    return Answer({"entries": rows, "places": waiting}, "\n".join(lines) or "Nothing waits.")


def _queue_line(entry: QueueEntry) -> str:
    """Return one line that says where the entry waits and names the command that moves it (LAZ-46)."""
    if entry.state is QueueState.ON_MEDIUM:
        where = f"(on {', '.join(map(inert, entry.places))}, not confirmed) {inert(sync_command(entry.places[0]))}"
    elif entry.places:
        where = f"(local, not pushed) {inert(sync_command(entry.places[0]))}"
    else:
        where = inert(entry.reason)
    return f"for {inert(entry.peer)}: {inert(entry.what)}  {where}"
