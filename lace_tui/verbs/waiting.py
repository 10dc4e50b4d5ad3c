"""`read` and `watch`: ask a line a question now, or wait until there is an answer (CLAY-17 to CLAY-25, CLAY-43)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from lace_tui.cli.context import Context
from lace_tui.cli.folder import CASE_HELP, desk_path
from lace_tui.cli.output import Answer
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert
from lazy.address import Pruned, case_number, kept, one_of_several, several_revisions
from lazy.people import label_of, node_of
from vault.desk_folders import NoSuchDesk, desks
from vault.revisions.cases import Address, Case, Hash, Label, Number, parse_address, parse_case
from vault.revisions.history import has_desk, line_head, revisions
from vault.revisions.nodes import NodeReader
from vault.revisions.reads import Care, Outcome, ReadAnswer, read_line, read_tree
from vault.revisions.waiting import NEVER, Line, Notice, Request, Requests, brought_up
from vault.typed import shown
from vault.vault import Vault

__all__ = ["configure", "run"]

_LOOK = 0.25  # seconds between two looks at whether another process wrote
_WATCHED = "v desk, w number, x file, y shallow node, z full node"
_CARES = f"u store, {_WATCHED}"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    if verb == "read":
        parser.add_argument("care", choices=[care.value for care in Care], metavar="CARE", help=_CARES)
        parser.add_argument("address", metavar="[PEER/]DESK[@CASE]", help=CASE_HELP)
        parser.add_argument("path", nargs="?", default="", metavar="PATH", help="what is asked about (everything)")
        return
    parser.add_argument("address", metavar="[PEER/]DESK", help="whose desk")
    parser.add_argument("path", nargs="?", default="", metavar="PATH", help="what to watch of it (everything)")
    parser.add_argument("--from", dest="start", default="", metavar="CASE", help="where to begin (the newest)")
    parser.add_argument("--to", dest="end", default="", metavar="CASE", help="where to end (never)")
    parser.add_argument("--at", default="", metavar="CASE", help="wait for this one case, and answer once")
    parser.add_argument("--care", choices=("v", "w", "x", "y", "z"), default="y", help=f"{_WATCHED} (y)")


def run(context: Context, args: argparse.Namespace) -> Answer | int:
    """Do what the verb says."""
    with context.open_vault() as vault:
        address = parse_address(args.address)
        node = node_of(vault, address.peer) if address.peer else vault.node.text
        path = desk_path(context, vault, args.path, address.desk) if args.path else ""
        if context.verb == "read":
            return _read(vault, address, node, Care(args.care), path)
        return _watch(context, vault, args, address, node, path)


def _read(vault: Vault, address: Address, node: str, care: Care, path: str) -> Answer:
    with vault.store.reading():
        if address.case is None:
            _require_known(vault, node, address.desk)
        number = None if address.case is None else case_number(vault, node, address.desk, address.case)
        state = _kept(vault, address, node, care, path)
        if state is not None:
            found = state
        elif address.case is not None and number is None:
            found = ReadAnswer(Outcome.NOT_YET)
        elif number == NEVER:
            found = ReadAnswer(Outcome.NEVER)
        else:
            one = one_of_several(vault, address, node, number) if number else None
            found = read_line(vault.store, node, address.desk, number, care, path, commit=one)
    data = {
        "care": care,
        "node": node,
        "desk": address.desk,
        "path": path,
        "outcome": found.outcome,
        "number": found.number if state is None and found.outcome is not Outcome.NOT_YET else None,
        "value": found.value,
    }
    # To wait for it is another verb: here "not yet" is an answer that somebody may want to act on.
    return Answer(data, lambda _paint: _text(found), exit_code=1 if found.outcome is Outcome.NOT_YET else 0)


def _kept(vault: Vault, address: Address, node: str, care: Care, path: str) -> ReadAnswer | None:
    """Return what is read of a state that is kept under a name; None where the address is none of one."""
    try:
        found = kept(vault, address, node)
    except Pruned:
        return ReadAnswer(Outcome.PRUNED)
    return read_tree(vault.store, node, found.tree, care, path) if found is not None else None


def _require_known(vault: Vault, node: str, desk: str) -> None:
    """Refuse a desk that nobody has, as far as is known here; of one that somebody has, a line may be empty.

    Raises:
        NoSuchDesk: it is none.
    """
    if line_head(vault.store, node, desk) is not None or desk in {found.name for found in desks(vault)}:
        return
    if not has_desk(vault.store, desk):
        raise NoSuchDesk(f"There is no desk {shown(desk)} here, and no friend has one of that name.")


def _text(found: ReadAnswer) -> str:
    if found.outcome is not Outcome.VALUE:
        return found.outcome.value.replace("-", " ")
    return "\n".join(_lines(found.value, "")) if found.value is not None else "nothing"


def _lines(value: Any, indent: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{indent}{inert(str(value))}"]
    lines = []
    for key, item in value.items():
        if isinstance(item, dict):
            lines += [f"{indent}{inert(str(key))}:", *_lines(item, indent + "  ")]
        elif isinstance(item, list):
            lines += [f"{indent}{inert(str(key))}:", *(f"{indent}  {inert(str(entry))}" for entry in item)]
        else:
            lines.append(f"{indent}{inert(str(key))}: {'' if item is None else inert(str(item))}".rstrip())
    return lines


def _watch(context: Context, vault: Vault, args: argparse.Namespace, address: Address, node: str, path: str) -> int:
    if address.case is not None or (args.at and (args.start or args.end)):
        raise BadArguments("lace watch: name cases with --from and --to, or one with --at.")
    start = _case(args.at or args.start)
    request = Request(start, _case(args.end), is_range=not args.at)
    if args.at and start is not None and Care(args.care) is Care.DESK and node != vault.node.text:
        request = brought_up(start, _head(vault, address, node))
    if args.at and isinstance(start, Number):
        one_of_several(vault, replace(address, case=start), node, start.value)
    requests = Requests()
    requests.ask(node, request)
    ends = [case for case in (start, request.end) if isinstance(case, Hash | Label)]
    at = _Watched(
        vault=vault,
        address=address,
        node=node,
        path=path,
        ends=ends,
        care=Care(args.care),
        reader=NodeReader(vault.store),
        request=request,
    )
    with context.cancellable() as token:
        seen = -1
        while True:
            changed = vault.store.data_version()
            alarm = requests.alarm
            if changed != seen or (alarm is not None and vault.around.tai() >= alarm):
                seen = changed
                if _is_answered(context, at, requests):
                    return 0
            token.check()
            context.world.sleep(_LOOK)


def _is_answered(context: Context, at: _Watched, requests: Requests) -> bool:
    """Print what is new; tell whether nothing more can come."""
    line = _line(at)
    for _, notices, closed in requests.wake(line):
        for notice in notices:
            _emit(context, at, notice)
        if closed is not None:
            if closed.is_null:
                context.emit({"outcome": "never", "value": None}, _never(at.request, line))
            return True
    return False


def _never(request: Request, line: Line) -> str:
    """Return why nothing comes, where it is plain from what was typed (CLAY-47)."""
    start = line.head if request.start is None else line.resolve(request.start)
    end = None if request.end is None else line.resolve(request.end)
    is_backwards = start is not None and end is not None and NEVER < end < start
    if request.is_range and (request.is_backwards or is_backwards):
        return "never: the range ends before it begins; swap --from and --to"
    return "never"


class _Watched(NamedTuple):
    """What is watched.

    Args:
        vault: in which it comes.
        address: as it was typed.
        node: whose line it is.
        path: in the desk.
        ends: cases that name one revision of several with its number.
        care: what is asked of a revision.
        reader: of that line.
        request: what is waited for.
    """

    vault: Vault
    address: Address
    node: str
    path: str
    ends: Sequence[Case]
    care: Care
    reader: NodeReader
    request: Request


def _case(text: str) -> Case | None:
    return parse_case(text) if text else None


def _head(vault: Vault, address: Address, node: str) -> int:
    head = line_head(vault.store, node, address.desk)
    return head.number if head else 0


def _line(at: _Watched) -> Line:
    """Return the line as who waits sees it."""
    vault, address, node = at.vault, at.address, at.node

    def read(number: int) -> ReadAnswer:
        case = next((one for one in at.ends if case_number(vault, node, address.desk, one) == number), None)
        commit = one_of_several(vault, replace(address, case=case), node, number) if case is not None else None
        return read_line(vault.store, node, address.desk, number, at.care, at.path, at.reader, commit=commit)

    return Line(_head(vault, address, node), lambda case: case_number(vault, node, address.desk, case), read)


def _emit(context: Context, at: _Watched, notice: Notice) -> None:
    vault, address, node = at.vault, at.address, at.node
    who = "self" if node == vault.node.text else label_of(vault, node)
    found = revisions(vault.store, node, address.desk, notice.number)
    several = [str(replace(address, case=Hash(one.commit))) for one in found] if len(found) > 1 else []
    if several and not any(case_number(vault, node, address.desk, case) == notice.number for case in at.ends):
        told = several_revisions(str(replace(address, case=Number(notice.number))), several)
        context.say(f"{inert(told.message)} This is the first of them. {inert(told.hint)}")
    data = {
        "node": node,
        "desk": address.desk,
        "path": at.path,
        "number": notice.number,
        "outcome": notice.answer.outcome,
        "value": notice.answer.value,
        "several": several,
    }
    context.emit(data, f"{inert(who)}/{inert(address.desk)}@{notice.number}  {inert(at.path)}".rstrip())
