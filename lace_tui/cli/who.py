"""Who somebody is: the name and key that were typed, words to compare, and what to know before joining (APP-1, APP-2).

Both the command line and the app say it.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from lace_tui.words.inert import inert
from lazy.people import formers
from vault.identity.words import fingerprint_words
from vault.names import NAME_LIMIT, BadName, check_name, check_person
from vault.vault import Vault

if TYPE_CHECKING:
    from lace_tui.cli.context import Context

__all__ = [
    "formers_data",
    "formers_lines",
    "given_name",
    "login_name",
    "who",
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
