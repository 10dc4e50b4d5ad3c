"""Who somebody is: the name and key that were typed, words to compare, and what to know before joining (APP-1, APP-2).

Both the command line and the app say it.
"""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lace_tui.cli.errors import BadArguments
from lace_tui.cli.folder import sharing_note
from lace_tui.cli.inert import inert
from lazy.people import formers
from lazy.places.registry import places
from vault.identity.words import fingerprint_words
from vault.names import NAME_LIMIT, BadName, check_name, check_person
from vault.records import RecordError, Verifier
from vault.vault import Vault

if TYPE_CHECKING:
    from lace_tui.cli.context import Context
    from lazy.belonging.invitations import Invitation

__all__ = [
    "formers_data",
    "formers_lines",
    "given_name",
    "left_out_places",
    "login_name",
    "node_key",
    "repository_note",
    "who",
    "words_to_compare",
]

_NO_NAME = "/@:{}|"


def login_name(context: Context) -> str:
    """Return the login name as a name friends may see, or nothing when it has no character that may be in one."""
    for key in ("USER", "LOGNAME", "USERNAME"):
        plain = unicodedata.normalize("NFC", context.environ.get(key, ""))
        kept = "".join(c for c in plain if c not in _NO_NAME and unicodedata.category(c)[0] not in "CZ")
        name = kept.encode()[:NAME_LIMIT].decode("utf-8", "ignore")
        try:
            return check_person(name)
        except BadName:
            continue
    return ""


def given_name(text: str) -> str:
    """Return a name as it was given; none is given by leaving the option out, and not by an empty one.

    Raises:
        BadName: it is empty, as of a variable of the shell that is not set.
    """
    return text or check_name(text)


def node_key(text: str) -> Verifier:
    """Return the key of a node as it was typed.

    Raises:
        BadArguments: it is none.
    """
    try:
        return Verifier.parse(text)
    except RecordError as error:
        raise BadArguments(
            f"{text!r} is not the key of a node.", hint="A key starts with V. and is printed by: lace id"
        ) from error


def who(vault: Vault) -> dict[str, Any]:
    """Return who and where this vault's node is; `fingerprint` is what `words` say, in hexadecimal."""
    words = fingerprint_words(vault.node)
    return {
        "vault": vault.folder,
        "node": vault.node,
        "name": vault.name,
        "group": vault.group,
        "fingerprint": vault.node.key.hex(),
        "words": words,
    }


def words_to_compare(vault: Vault, invitation: Invitation) -> tuple[str, str]:
    """Return, for who just joined, the words that show whom they joined, and their own (APP-1)."""
    return (
        f"Whoever invited you reads out these words: {invitation.words}",
        f"Your words: {fingerprint_words(vault.node)}",
    )


def left_out_places(vault: Vault, invitation: Invitation) -> list[str]:
    """Return a sentence for each place of an invitation that was not taken over: this lace cannot go there (APP-1)."""
    known = {place.name for place in places(vault)}
    return [
        inert(f"The place {name} at {uri} is of a kind this lace does not speak; it was left out.")
        for name, uri in invitation.places
        if name not in known
    ]


def repository_note(folder: Path) -> str:
    """Return what to know of what other tools keep in a folder that is to be shared; empty where nothing (APP-1).

    Those are a git repository, git-annex's too, and the older files and the marker of Syncthing.
    """
    kept = (folder.absolute() / name for name in (".git", ".stversions", ".stfolder"))
    return " ".join(filter(None, (sharing_note(path.parent, path) for path in kept if os.path.lexists(path))))


def formers_data(vault: Vault) -> list[dict[str, Any]]:
    """Return everybody who was revoked, for `--json`."""
    return [
        {
            "name": gone.name,
            "node": gone.node,
            "last_seq": gone.last_seq,
            "by": gone.by,
            "revocation": gone.revocation,
            "me": gone.me,
        }
        for gone in formers(vault)
    ]


def formers_lines(vault: Vault) -> list[str]:
    """Return a line for everybody who was revoked."""
    return [
        f"{inert(gone.name)}{' (you)' if gone.me else ''}, revoked by {inert(gone.by)}: "
        + (f"entry {gone.last_seq} of their log counts last" if gone.last_seq else "nothing of their log counts")
        for gone in formers(vault)
    ]
