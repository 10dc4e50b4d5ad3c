"""Leaving somebody, revoking them, going on under a new key: a plan, then a word to type (LAZ-53, APP-1)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, STRONG, mark
from lazy.belonging.adopting import adopt, out_of_reach
from lazy.belonging.circle import leave, node_to_leave
from lazy.belonging.revoking import Revoked, agreeing, plan_revocation, revoke
from lazy.places.registry import places_of, way_back
from lazy.queue import queue
from vault.commands import as_typed
from vault.errors import CallerError
from vault.identity.words import fingerprint_words
from vault.plural import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.content import Content

    from lace_tui.model.view import Need
    from lace_tui.screens.host import Refused
    from lace_tui.screens.place import PlaceScreen
    from vault.vault import Vault

__all__ = ["OtherWord", "ask_adopt", "ask_leave", "ask_revoke"]


class OtherWord(CallerError):
    """What was typed is not the word that agrees to a plan."""

    code = "other-word"
    hint = "Type it as it stands there; esc leaves things as they are."


def _agree_by_word(
    asker: PlaceScreen, action_id: str, title: str, lines: list[Content], word: str, do: Callable[[Refused], object]
) -> None:
    """Show the plan of an act that one key is too little for: who goes on has to type a word before it is done.

    Args:
        asker: the place that it was asked for in.
        action_id: what asks for it.
        title: of both pages.
        lines: the plan.
        word: what agrees.
        do: begins the act; given what asks for the word again.
    """

    def check(text: str) -> None:
        if text != word:
            raise OtherWord(f"That is not {word}.")

    def typed(text: str | None, refused: Refused) -> None:
        if text:
            do(refused)

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            asker.lace.put(Question(title, f"Nothing is done yet. Type {word} to agree.", check=check), typed)

    asker.lace.open_page(asker, action_id, PlanPage(title, lines, "go on", "back"), decided)


# Adopt


class _Adopted(NamedTuple):
    """A vault under a new key: whether the old one let it in, its name, its words, and whom the old one let in."""

    is_in: bool
    name: str
    words: str
    reach: tuple[str, ...]


def _adopt(vault: Vault) -> _Adopted:
    was = vault.node
    is_in = adopt(vault)
    return _Adopted(is_in, vault.name, fingerprint_words(vault.node), out_of_reach(vault, was))


def ask_adopt(asker: PlaceScreen, need: Need) -> None:
    """Say why this vault may sign nothing, what brings that back, and what it means to go on under a new key; ask."""
    if asker.lace.server is not None:
        ends = asker.key_of("serve")
        asker.notify(f"Friends are served under the old key: end that first, by {ends} in Peers.", markup=False)
        return
    lines = [mark(need.title, STRONG), mark(need.facts)]
    if need.command == "lace sync":
        lines.append(mark(f"So leave this, and sync first, by {asker.key_of('sync')}. What follows is for good:", NOTE))
    lines.append(mark("This vault goes on under a new key; the old one stays a member that nobody speaks for here."))
    lines.append(mark("It revokes nobody whom the old one let in: whom you want revoked, revoke first.", NOTE))
    lines.append(mark("lace adopt", QUIET))

    def do(refused: Refused) -> None:
        done = partial(_adopted, asker.key_of("sync"))
        asker.lace.begin("Adopt", lambda vault, _: _adopt(vault), done, "lace adopt", refused)

    _agree_by_word(asker, "open", "Go on under a new key?", lines, "adopt", do)


def _adopted(syncs: str, done: _Adopted) -> Card:
    told = [mark(f"= {done.name} goes on under a new key", GOOD), mark(f"its words: {done.words}")]
    if done.is_in:
        told.append(mark("Your old key admitted it, so nobody has to."))
        told.append(mark(f"next: {syncs}, so that your friends learn of it"))
        if done.reach:
            above = "to revoke one takes the word of that key, or of somebody above it"
            told.append(mark(f"! The old key had let in {', '.join(done.reach)}: {above}", BAD))
    else:
        told.append(mark(f"! A friend must admit it: {as_typed('admit', done.name)}", BAD))
        told.append(mark(f"next: {syncs}; your friend syncs and admits you; then both sync again"))
    return Card("Adopt: done", tuple(told), not done.is_in)


# Leave


class _Parting(NamedTuple):
    """What goes with a peer: their own places, how much waits for them, and how they are synced with again."""

    places: tuple[str, ...]
    waiting: int
    back: str


def _plan_leave(vault: Vault, name: str) -> _Parting:
    with vault.store.reading():
        node = node_to_leave(vault, name)
        waiting = sum(1 for entry in queue(vault) if entry.peer == name)
        return _Parting(tuple(place.name for place in places_of(vault, node)), waiting, way_back(vault, name, node))


def ask_leave(asker: PlaceScreen, action_id: str, name: str, first: str = "") -> None:
    """Say what it means to sync with somebody no more, and ask.

    Args:
        asker: the place that it was asked for in.
        action_id: what asks for it.
        name: of the peer.
        first: what is to be said before the plan.
    """

    def planned(plan: _Parting) -> None:
        def done(_: object) -> Card:
            told = mark(f"= nothing is synced with {name} any more", GOOD)
            return Card("Leave: done", (told, mark(f"again: {plan.back}", QUIET)))

        def do(refused: Refused) -> None:
            asker.lace.begin(f"Leave {name}", lambda vault, _: leave(vault, name), done, command, refused)

        command = as_typed("leave", name)
        lines = [mark(first)] if first else []
        lines += [
            mark(f"Nothing would be synced with {name} any more, nor their mailbox be read.", STRONG),
            mark("They would stay a member: what they share still comes where others pass it on."),
        ]
        if plan.waiting:
            lines.append(mark(f"! would be dropped from the queue: {plural(plan.waiting, 'entry', 'entries')}", BAD))
            lines.append(mark("  what you shared stays in your history", QUIET))
        if plan.places:
            lines.append(mark(f"! would be forgotten with them: {', '.join(plan.places)}", BAD))
        lines += [mark(f"again: {plan.back}", QUIET), mark(command, QUIET)]
        _agree_by_word(asker, action_id, f"Leave {name}?", lines, name, do)

    if asker.lace.can_start:
        asker.lace.ask(lambda vault: _plan_leave(vault, name), planned, "leave", asked="Leave")


# Revoke


def ask_revoke(asker: PlaceScreen, action_id: str, node: str) -> None:
    """Say what it means that somebody's log counts no further, and ask."""

    def planned(plan: Revoked) -> None:
        def do(refused: Refused) -> None:
            done = partial(_revoked, asker.key_of("sync-all"))
            asker.lace.begin(f"Revoke {plan.name}", lambda vault, _: revoke(vault, plan), done, command, refused)

        command = as_typed("revoke", plan.name)
        lines = [*_revocation_lines(plan), mark("It is never taken back.", BAD), mark(command, QUIET)]
        _agree_by_word(asker, action_id, f"Revoke {plan.name}?", lines, plan.name, do)

    if asker.lace.can_start:
        asker.lace.ask(lambda vault: plan_revocation(vault, node), planned, "revoke", asked="Revoke")


def _revocation_lines(plan: Revoked) -> list[Content]:
    counts = f"entry {plan.last_seq} of their log counts last" if plan.last_seq else "nothing of their log counts"
    lines = [mark(f"{plan.name} would no longer belong to the group: {counts}.", STRONG)]
    if plan.not_here:
        text = f"! The revocation that waits names entry {plan.not_here}, and what leads to it is not here."
        lines.append(mark(text, BAD))
    if plan.waits:
        above = agreeing(plan.above, plan.older)
        lines.append(mark(f"! You are not above them: it waits until one of these agrees: {above}", BAD))
    if plan.after:
        what = f": {', '.join(plan.releases)}" if plan.releases else ""
        lines.append(mark(f"{plural(plan.after, 'later entry', 'later entries')}{what}: readable, and marked."))
    if plan.admitted:
        lines.append(mark(f"They let in {', '.join(plan.admitted)}, who stay unless you revoke them too."))
    return lines


def _revoked(syncs: str, done: Revoked) -> Card:
    if done.waits:
        return Card(
            "Revoke: waits",
            (mark("o it waits under lace requests until somebody above them agrees", BAD),),
            is_bad=True,
        )
    told = mark(f"= {done.name} is revoked", GOOD)
    return Card("Revoke: done", (told, mark(f"next: {syncs} on Home, so that your friends learn of it")))
