"""What is said to who joins or begins: words to compare, and what to know before (APP-1)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lace_tui.words.folder import sharing_note
from lace_tui.words.inert import inert
from lazy.places.registry import places
from vault.identity.words import fingerprint_words
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.belonging.invitations import Invitation

__all__ = ["left_out_places", "repository_note", "words_to_compare"]


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
