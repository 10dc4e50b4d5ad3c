"""Why a path of a folder is left alone or told of, as a value where an act hangs on it (CLAY-71, APP-12)."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Cause"]


class Cause(StrEnum):
    """Why a path is left alone or told of; the words are made from it, and nothing is decided by those."""

    OTHER = "other"
    """Nothing hangs on it, and only its words say it."""
    HELD = "held"
    """A rule that the folder no longer has keeps it out."""
    STILL_SHARED = "still-shared"
    """The rules name it, and it was committed before."""
    RULES = "rules"
    """It is the rules' own file, and not all of it can be used; the words say which part."""
    CHANGED = "changed"
    """It holds what the folder did not stand on."""
    OTHER_DESK = "other-desk"
    """It lies in the folder of another desk."""
    HOLDS_DESK = "holds-desk"
    """It is a folder that holds the one of another desk."""

    @property
    def words(self) -> str:
        """Return it as the end of a sentence that starts with the path; nothing where that is not all of it."""
        return _WORDS.get(self, "")


_WORDS = {
    Cause.HELD: "is kept out by what .laceignore said here before: name it there again,"
    " or take it in with: lace commit -m TEXT PATH",
    Cause.STILL_SHARED: "is named in .laceignore and was committed before, so it goes on being shared. To stop that"
    " and keep it here: lace commit -m TEXT --keep-out PATH",
    Cause.CHANGED: "was changed here",
    Cause.OTHER_DESK: "lies in the folder of another desk",
    Cause.HOLDS_DESK: "cannot be written: it is a folder here that holds the folder of another desk",
}
