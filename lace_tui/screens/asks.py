"""What is made after a line was asked for: a release, a place, a peer, an invitation."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lace_tui.acts.typed import expanded, node_key
from lace_tui.errors import BadArguments
from lace_tui.model import deeds
from lace_tui.screens.cards import Card, place_card, released_card
from lace_tui.screens.dialogs import Page, PlanPage, Question
from lace_tui.screens.marks import BAD, GOOD, QUIET, STRONG, mark
from lace_tui.words.inert import inert
from lace_tui.words.times import moment
from transports.address import as_read
from vault.commands import as_option, as_typed
from vault.names import check_person
from vault.typed import holds_password

if TYPE_CHECKING:
    from collections.abc import Callable

    from lace_tui.screens.host import Refused
    from lace_tui.screens.place import PlaceScreen
    from lazy.belonging.invitations import Invitation
    from lazy.places.registry import Place
    from vault.names import Version
    from vault.vault import Vault

__all__ = ["ask_address", "ask_invitation", "ask_join", "ask_place", "ask_release"]

_JOINED = 3  # words that name a peer
_ENCRYPT = "--encrypt"
_INVITATION = "An invitation, good for one friend"


# A release


def ask_release(home: PlaceScreen) -> None:
    """Ask for a version, proposing the next, and release what the folder holds."""
    here = home.lace.here
    home.lace.put_when_read(
        "Release", lambda vault: deeds.next_release(vault, here), _ask_version, partial(_release, home), "Release"
    )


def _ask_version(found: deeds.NextRelease) -> Question:
    desk, proposed = found.desk, str(found.version)
    what = "Your folder" if found.is_alone else f"The desk {desk}"
    text = f"{what} as it is now ({found.new}) becomes this version; friends get it at the next sync."
    before = f"{text}\n{found.gone}\n" if found.gone else f"{found.nothing or text} "
    text = f"{before}What is new may stand behind the version: {proposed} autumn menu."
    if not found.is_alone:
        text += " Another desk: open lace in its folder."
    title = "Release" if found.is_alone else f"Release {desk}"
    # As by command, the same content is released again only under a version that somebody names.
    return Question(title, text, "" if found.nothing else proposed, check=_version, goes_on=True)


def _version(text: str) -> Version:
    """Return the version that stands before what is new in it."""
    return deeds.Version.parse(text.split(maxsplit=1)[0])


def _release(home: PlaceScreen, found: deeds.NextRelease, text: str | None, refused: Refused) -> None:
    if not text:
        return
    desk = found.desk
    version, message = _version(text), " ".join(text.split(maxsplit=1)[1:])
    options = [as_option("-m", message)] if message else []
    options += [] if found.is_alone else [as_option("--desk", desk)]
    home.lace.begin(
        f"Release {version}" if found.is_alone else f"Release {inert(desk)} {version}",
        lambda vault, watch: deeds.release(vault, version, desk, watch, message),
        lambda done: released_card(
            done, home.lace.taste.keys, has_place=bool(home.lace.view and home.lace.view.places)
        ),
        " ".join(["lace release", str(version), *options]),
        refused,
    )


# A place


def ask_place(home: PlaceScreen, offer_new: Callable[[str], None]) -> None:
    """Ask for a name and where it is, remember a place, and offer it."""

    def named(name: str | None) -> None:
        if name:
            text = "Where is it? A directory (a stick, for example), or the address of a repository."
            text += f" Whoever reaches it can read what lies there; with {_ENCRYPT} behind it only members can."
            home.lace.put(Question(f"Add the place {name}", text), partial(_add_place, home, name, offer_new))

    def check(name: str) -> None:
        deeds.check_place_name(name, home.lace.view)

    home.app.push_screen(Question("Add a place", "What do you call the place?", "stick", check=check), named)


def ask_address(home: PlaceScreen, known: Place) -> None:
    """Ask where a place lies from now on, and remember that."""
    name, uri = known.name, as_read(known.uri)
    text = f"Where is {name} from now on? What lies at {uri} stays there, and what came from it stays here."
    home.lace.put(Question(f"Move the place {name}", text, uri), partial(_move_place, home, known))


def _typed_address(where: str) -> str:
    where = where[1:-1] if where[:1] in "'\"" and where[:1] == where[-1:] else where  # as in a shell
    return str(expanded(where)) if where.startswith("~") else where


def _move_place(home: PlaceScreen, known: Place, where: str | None, refused: Refused) -> None:
    if not where:
        return
    name, uri, here = known.name, _typed_address(where), Path(home.lace.here)

    def moved(made: deeds.MovedPlace) -> Card:
        home.lace.note(as_typed("place remove", name))
        home.lace.note(made.command)  # what was refused may hold a password
        card = place_card(made.place, made.told, home.lace.taste.keys)
        before = mark(f"  it was {as_read(known.uri)}", QUIET)
        following = mark(f"next: {home.key_of('sync')} syncs it; {home.key_of('undo')}, twice, takes the move back")
        return Card(card.title, (*card.lines[:-1], before, following), card.is_bad)

    _unless_made(home, name, uri, lambda vault: deeds.move_place(vault, name, uri, here), moved, refused)


def _add_place(
    home: PlaceScreen, name: str, offer_new: Callable[[str], None], where: str | None, refused: Refused
) -> None:
    if not where:
        return
    is_sealed = where.endswith(f" {_ENCRYPT}")
    uri, here = _typed_address(where.removesuffix(f" {_ENCRYPT}").rstrip()), Path(home.lace.here)

    def do(vault: Vault) -> tuple[Place, tuple[str, ...], bool]:
        place, told = deeds.new_place(vault, name, uri, here, is_sealed=is_sealed)
        return place, told, deeds.is_encrypted(vault, place)

    def added(made: tuple[Place, tuple[str, ...], bool]) -> Card:
        place, told, is_encrypted = made
        # Here, for what was refused may hold a password.
        home.lace.note(as_typed("place add", name, uri, options=_ENCRYPT if is_sealed else ""))
        offer_new(name)
        return place_card(place, told, home.lace.taste.keys, is_encrypted=is_encrypted)

    named = here / _typed_address(where)
    _unless_made(home, name, uri, do, added, refused, is_sealed=is_sealed, named=named if is_sealed else None)


_Made = TypeVar("_Made")


def _unless_made(
    home: PlaceScreen,
    name: str,
    uri: str,
    do: Callable[[Vault], _Made],
    then: Callable[[_Made], Card],
    refused: Refused,
    *,
    is_sealed: bool = False,
    named: Path | None = None,
) -> None:
    """Remember a place; where a directory would be made for it, ask first: the address may be mistyped.

    Nor is it guessed what was meant where all that was typed names a directory, `named`, with what asks to encrypt.
    """
    what, here = f"Place: {inert(name)}", Path(home.lace.here)
    again: Refused | None = None if holds_password(uri) else refused  # such a one is shown nowhere

    def looked(found: str | _Made) -> Card | None:
        if not isinstance(found, str):
            return then(found)
        lines = [
            mark(f"There is no directory {found}.", STRONG),
            mark("If you agree, it is made now, and you meet there."),
            *([mark("What you put there only members can read.")] if is_sealed else []),
        ]
        lines.append(mark("If it is to lie on a stick or a share that is not here yet, wait until that is.", QUIET))

        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                home.lace.begin(what, lambda vault, _: do(vault), then, refused=again)
            else:
                refused(f"There is no directory {found}.")

        action = "new-place" if home.lace.view is None or name not in _names(home) else "edit-place"
        home.lace.open_page(home, action, PlanPage("Make a directory?", lines, "make it", "back"), decided)
        return None

    def look(vault: Vault) -> str | _Made:
        if named is not None and named.is_dir():
            raise BadArguments(f"There is a directory {named}.", hint="If you mean that one, put quotes around it.")
        return deeds.to_be_made(uri, here) or do(vault)

    home.lace.begin(what, lambda vault, _: look(vault), looked, refused=again)


def _names(home: PlaceScreen) -> list[str]:
    return [known.place.name for known in home.lace.view.places] if home.lace.view is not None else []


# A peer


def ask_join(peers: PlaceScreen) -> None:
    """Ask for a friend's name, address and key, and make them a peer after the plan."""
    text = "Type name, address and key of a friend, as lace join has them. The address is where the two of you meet."
    peers.lace.put(Question("Join a friend", text, check=_joined), partial(_plan_join, peers))


def _joined(text: str) -> tuple[str, str, str]:
    """Return name, address and key of a line; it may be the whole command.

    Raises:
        BadArguments: it is none.
    """
    try:
        words = shlex.split(text.strip().removeprefix("lace join "))
    except ValueError:
        words = []
    words = [word for word in words if word != "--key"]
    if len(words) != _JOINED:
        raise BadArguments(
            "This is not a name, an address and a key.", hint="For example: bob /media/stick/bob V.0123...H3"
        )
    name, where, key = words
    return check_person(name), _typed_address(where), node_key(key).text


def _plan_join(peers: PlaceScreen, text: str | None, refused: Refused) -> None:
    if not text:
        return
    name, uri, key = _joined(text)
    here = Path(peers.lace.here)
    command = as_typed("join", name, uri, options=f"--key {key}")

    def done(place: Place) -> Card:
        told = mark(f"= {name} is a peer now, met at {as_read(place.uri)}", GOOD)
        return Card("Join: done", (told, mark(f"next: {peers.key_of('sync-peer')} syncs with them")))

    def planned(absent: str) -> None:
        lines = [
            mark(f"{name} becomes a peer, met at {uri}. If not a member yet, they become one and read all.", STRONG)
        ]
        lines += [mark(f"! There is no directory {absent}: it is made.", BAD)] if absent else []
        lines.append(mark("Ask them, by a way that you trust, for the words of lace id. These must be the same:"))
        lines += [mark(deeds.words_of(key), STRONG), mark(command, QUIET)]

        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                peers.lace.begin(
                    "Join", lambda vault, _: deeds.join(vault, name, uri, key, here), done, command, refused
                )

        peers.lace.open_page(peers, "join", PlanPage("Join a friend?", lines), decided)

    if peers.lace.can_start:
        peers.lace.ask(lambda _: deeds.to_be_made(uri, here), planned, "join", asked="Join", refused=refused)


# An invitation


def ask_invitation(home: PlaceScreen) -> None:
    """Ask whom it is for, make an invitation, and show it."""

    def named(name: str | None, refused: Refused) -> None:
        if name:
            home.lace.begin(
                "Invite",
                lambda vault, _: _invited(vault, name),
                partial(_invitation, home),
                as_typed("invite", name),
                refused,
            )

    home.lace.put(Question("Invite", "What do you call the friend?", check=check_person), named)


def _invited(vault: Vault, name: str) -> tuple[Invitation, str]:
    made = deeds.invite(vault, name)
    return made, deeds.doubt_of_clock(vault, made)


def _invitation(home: PlaceScreen, told: tuple[Invitation, str]) -> Card | None:
    made, doubt = told
    line = made.encode()
    home.app.copy_to_clipboard(line)
    lines = [
        mark("Send this one line to your friend, by a way that others cannot read:"),
        mark(""),
        mark(line),
        mark(""),
        mark("It is in your clipboard too, where your terminal allows that.", QUIET),
        mark(f"It is good until {moment(made.expires.to_utc_iso())}, and for one person."),
        mark(f"Read these words to each other: {made.words}"),
    ]
    if doubt:
        lines.append(mark(f"! {doubt}", BAD))
    if not made.places:
        lines.append(mark(f"! It names no place to meet yet: add one first with {home.key_of('new-place')}.", BAD))
    if not home.is_active:  # it is made, and must not be lost
        return Card(_INVITATION, tuple(lines))
    home.app.push_screen(Page(_INVITATION, lines, line))
    return None
