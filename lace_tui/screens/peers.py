"""Peers: who has what of whom, as a matrix of version vectors, and the places where we meet (APP-4, LAZ-54)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from textual.binding import BindingType

from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.model.view import PlaceView
from lace_tui.screens.asks import ask_address, ask_join
from lace_tui.screens.belonging import ask_leave, ask_revoke
from lace_tui.screens.carrying import ask_file_for, ask_file_of
from lace_tui.screens.dialogs import Page
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, STRONG, cell, column, mark
from lace_tui.screens.plans import ask_forget
from lace_tui.screens.rows import ENCRYPTED
from lace_tui.screens.serving import ask_serve
from lace_tui.screens.visits import say_what_would_move, sync_with
from lace_tui.words.inert import inert, width_of
from lazy.clocks import CLOCK_HINT, ClockApart, known_clocks
from lazy.noted_visits import sync_command, synced
from lazy.people import FormerMember, MemberInfo, Person, formers, members, peers
from lazy.places.registry import Place, is_encrypted, places
from lazy.vectors import Mark, vectors
from transports.address import as_read
from vault.identity.words import fingerprint_words
from vault.records import Verifier
from vault.vault import Vault

__all__ = ["Peers"]

_CELL, _NAME = 9, 14  # cells of the terminal for one of the matrix, and for the name before a row, at least
_SHARE = 4  # which part of the screen a name may take where it is longer
_FRAME = 6  # cells around the rows, and of the sign before them


class _View(NamedTuple):
    peers: tuple[Person, ...]
    members: tuple[MemberInfo, ...]
    places: tuple[Place, ...]
    vectors: Mapping[str, Mapping[str, Mark]]
    node: str
    name: str
    words: str
    formers: tuple[FormerMember, ...] = ()
    encrypted: frozenset[str] = frozenset()
    clocks: Mapping[str, ClockApart] = MappingProxyType({})

    def name_of(self, member: MemberInfo) -> str:
        """Return what a member is called here: of two with one name, such as my own other machine, one has another."""
        return next((peer.name for peer in self.peers if peer.node == member.node), member.name)


class Peers(Listing):
    """The matrix: a row for each member, a column for each peer."""

    SCOPE = Scope.PEERS
    TITLE = "Members and what they are known to have"
    LEGEND = "= same   < they lack   > we lack   | both   ! forked"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.PEERS)

    def __init__(self) -> None:
        super().__init__()
        self._view: _View | None = None

    def read(self, vault: Vault) -> _View:
        """Read members, peers, places and vectors."""
        with vault.store.reading():
            return _View(
                peers=tuple(peers(vault)),
                members=tuple(members(vault)),
                places=tuple(places(vault)),
                vectors=vectors(vault),
                node=vault.node.text,
                name=vault.name,
                words=fingerprint_words(vault.node),
                formers=tuple(formers(vault)),
                encrypted=frozenset(place.name for place in places(vault) if is_encrypted(vault, place)),
                clocks=known_clocks(vault),
            )

    def show(self, value: _View) -> None:
        """Show the matrix, and the places below it."""
        self._view = value
        self.fit_rows()

    def _widths(self, view: _View) -> tuple[int, int]:
        """Return the cells of a name before a row, and of one above a column: as many as there is room for."""
        columns, most = max(1, len(view.peers)), self.size.width // _SHARE
        room = self.size.width - _FRAME - _CELL
        names = [*map(view.name_of, view.members), *(gone.name for gone in view.formers)]
        before = column(names, _NAME, min(most, room - columns * _CELL))
        above = (peer.name for peer in view.peers)
        return before, column(above, _CELL, min(most, (room - before) // columns))

    def fit_rows(self) -> None:
        """Make the matrix and the places for the width that there is."""
        value = self._view
        if value is None:
            return
        before, wide = self._widths(value)
        head = mark(cell("", before), QUIET) + mark(f"{'you':<{_CELL}}", STRONG)
        for peer in value.peers:
            head += mark(cell(peer.name, wide), STRONG)
        rows = [("", head)]
        mine = value.vectors.get("self", {})
        for member in value.members:
            line = mark(cell(value.name_of(member), before), STRONG)
            own = mine.get(member.node)
            line += mark(f"{own.seq if own else 0:<{_CELL}}")
            for peer in value.peers:
                line += self._cell(own, value.vectors.get(peer.name, {}).get(member.node), wide)
            rows.append((f"member {member.node}", line))
            if (clock := value.clocks.get(member.node)) is not None:
                rows.append(("", mark(f"  ! {clock.text}", BAD)))
        for gone in value.formers:
            told = f"revoked by {inert(gone.by)}, entry {gone.last_seq} counts last"
            rows.append((f"former {gone.node}", mark(cell(gone.name, before), QUIET) + mark(told, BAD)))
        rows.append(("", mark("")))
        rows.append(("", mark("Places", STRONG)))
        for place in value.places:
            reach = self.lace.reach.get(place.name)
            seen = reach.text if reach else "asked when you sync"
            name = cell(place.name, max(before, width_of(place.name) + 1))
            rows.append((f"place {place.name}", mark(name, STRONG) + mark(f"{place.kind}  {seen}", QUIET)))
        if not value.places:
            rows.append(("", mark(f"None yet: {self.key_of('new-place')} on Home adds one", QUIET)))
        self.fill(rows)

    def _cell(self, own: Mark | None, theirs: Mark | None, wide: int) -> Any:
        have, told = (own.seq if own else 0), (theirs.seq if theirs else 0)
        if theirs is not None and theirs.forked:
            return mark(f"{f'! {told}':<{wide}}", BAD)
        if have == told:
            differs = own is not None and theirs is not None and own.digest != theirs.digest
            return mark(f"{f'| {told}':<{wide}}", BAD) if differs else mark(f"{f'= {told}':<{wide}}", GOOD)
        sign, style = ("<", NOTE) if told < have else (">", NOTE)
        return mark(f"{f'{sign} {told}':<{wide}}", style)

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the selected member or place."""
        kind, _, name = self.lines.key.partition(" ")
        view = self._view
        if view is None or not name:
            return "", (), ""
        if kind == "place":
            place = next(place for place in view.places if place.name == name)
            sealed = [f"Encrypted: {ENCRYPTED}"] if name in view.encrypted else []
            lines = [place.name, f"Kind: {place.kind}", f"Where: {as_read(place.uri)}", *sealed]
            return "A place", tuple(lines), sync_command(name)
        if kind == "former":
            gone = next(gone for gone in view.formers if gone.node == name)
            told = (gone.name, f"Key: {gone.node}", f"Revoked by {gone.by}: entry {gone.last_seq} counts last.")
            return (
                "Revoked",
                (*told, "What came before stays; later work is readable, marked after the cut."),
                "lace log",
            )
        member = next(member for member in view.members if member.node == name)
        words = fingerprint_words(Verifier.parse(member.node))
        lines = [view.name_of(member), f"Key: {member.node}", f"Words: {words}"]
        for who, marks in view.vectors.items():
            mark_of = marks.get(member.node)
            if mark_of is not None:
                whose = "You have" if who == "self" else f"{who} has"
                lines.append(f"{whose} entries up to {mark_of.seq}{', forked there' if mark_of.forked else ''}")
        clock = view.clocks.get(name)
        lines += [f"! {clock.text}", f"  {CLOCK_HINT}"] if clock is not None else []
        peer = next((peer for peer in view.peers if peer.node == name), None)
        return "A member", tuple(lines), sync_command(peer.name) if peer else "lace members"

    def action_sync_peer(self) -> None:
        """Sync with the selected peer or place."""
        if target := self._target():
            sync_with(self, [target])

    def action_try_peer(self) -> None:
        """Say what a sync with the selected peer or place would move."""
        if target := self._target():
            say_what_would_move(self, target)

    def _target(self) -> str:
        """Return the selected peer or place; say what to select where it is none of them."""
        target = synced(self.row()[2])
        if not target:
            self.notify("Select a peer or a place; you cannot sync with yourself.", markup=False)
        return target

    def _place(self) -> PlaceView | None:
        """Return the selected place; None where it is no place."""
        known = self.lace.view.places if self.lace.view else ()
        return next((view for view in known if self.lines.key == f"place {view.place.name}"), None)

    def action_move_place(self) -> None:
        """Ask where the selected place lies from now on."""
        known = self._place()
        if known is None:
            self.notify("Select a place.", markup=False)
        else:
            ask_address(self, known.place)

    def action_leave_peer(self) -> None:
        """Say what it means to leave the selected peer or to forget the place, and ask."""
        known = self._place()
        if known is not None:
            if self.lace.can_start:
                ask_forget(self, known, "leave-peer")
        elif target := self._target():
            ask_leave(self, "leave-peer", target)

    def action_revoke(self) -> None:
        """Say what it means to revoke the selected member, and ask."""
        kind, _, node = self.lines.key.partition(" ")
        if kind != "member" or self._view is None or node == self._view.node:
            self.notify("Select a member; this device revokes itself by: lace revoke self", markup=False)
        else:
            ask_revoke(self, "revoke", node)

    def words(self) -> dict[str, str]:
        """Say that friends are served."""
        return {"serve": "serving"} if self.lace.server is not None else {}

    def action_serve(self) -> None:
        """Ask where to listen, and serve friends; while that is done, show the address and ask whether to end it."""
        ask_serve(self)

    def action_write_file(self) -> None:
        """Ask where a file for the selected peer is to lie, or one for everybody, and write it."""
        target = synced(self.row()[2])
        ask_file_for(self, target if self.lines.key.startswith("member ") else "")

    def action_take_file(self) -> None:
        """Ask for a file that a friend made, and take it in after its plan."""
        ask_file_of(self)

    def action_join(self) -> None:
        """Ask for a friend's name, address and key, and make them a peer after the plan."""
        ask_join(self)

    def action_identity(self) -> None:
        """Show my own key and the words to compare aloud."""
        view = self._view
        if view is not None:
            lines = [mark(view.name, STRONG), mark(f"Key: {view.node}"), mark("Words to compare aloud:", QUIET)]
            self.app.push_screen(
                Page("Who you are", [*lines, mark(view.words, STRONG), mark(""), mark("lace id", NOTE)], view.node)
            )
