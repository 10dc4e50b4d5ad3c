"""Fetching the tips of mailboxes that changed: all at once, and halves of them where that goes wrong (decision 7a).

Whoever may push can push what nobody can take. Such a tip costs its own mailbox, a few more talks at the visit that
first meets it, and then nothing: it is remembered, and asked for again once its branch moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from transports.errors import NotAGitPlace, PlaceNotWritable, PlaceUnreachable, UnreadableFile
from transports.git.pace import SentTooMuch
from transports.git.private import PrivateRepository
from transports.git.talks import Refuted, Stumbled
from vault.errors import DataError, LaceError, PlaceError

__all__ = ["Tips"]

_FRUITLESS = 16  # talks that are cut one after the other before it is given up: each may have been waited for
_MUCH = "much"


class Tips:
    """Fetches tips.

    Args:
        private: where they go, and the talks with the remote.
        shown: the place as a person may see it.
        renew: begins the private repository anew, once a visit; tells whether it did.
    """

    def __init__(self, private: PrivateRepository, shown: str, renew: Callable[[], bool]) -> None:
        self._private = private
        self._shown = shown
        self._renew = renew
        self._fruitless = 0

    def bring(self, tips: Mapping[str, str]) -> dict[str, LaceError] | None:
        """Fetch the refs of some names; return those that did not come with why, or None where all is to be asked anew.

        Args:
            tips: names below lace/ with where they stand.

        Raises:
            PlaceError: nobody answers.
        """
        known = self._private.here.notes.known_bad()
        faults: dict[str, LaceError] = {name: self._as_known(known[tip]) for name, tip in tips.items() if tip in known}
        left = [sorted(tips.keys() - faults.keys())]
        present: dict[str, str] | None = None
        while left:
            names = left.pop()
            if present is not None:
                faults |= {name: self._deleted() for name in names if name not in present}
                names = [name for name in names if name in present]
            if not names:
                continue
            try:
                self._private.talks.fetch_refs(names)
                self._fruitless = 0
            except (PlaceError, DataError) as error:
                is_first, present = present is None, self._heard(error, present)
                if is_first and len(names) == 1 and _is_cut(error):
                    left.append(names)
                elif len(names) > 1:
                    half = len(names) // 2
                    left += [names[half:], names[:half]]
                elif self._is_renewed(error, present.get(names[0], tips[names[0]])):
                    return None
                elif names[0] in present:
                    faults[names[0]] = error
                else:
                    faults[names[0]] = self._deleted()
        return faults

    def _heard(self, error: LaceError, present: dict[str, str] | None) -> dict[str, str]:
        """Return the refs that are there after a fetch went wrong; asked for again where it was cut."""
        if not isinstance(error, PlaceUnreachable | PlaceNotWritable | DataError | NotAGitPlace):
            raise error
        self._fruitless += _is_cut(error)
        if self._fruitless > _FRUITLESS:
            raise error
        return self._private.talks.list_remote() if _is_cut(error) or present is None else present

    def _is_renewed(self, error: LaceError, tip: str) -> bool:
        """Find out who is to blame for a tip that does not come; tell whether the private repository began anew."""
        cause = error.__cause__
        if isinstance(cause, Stumbled):
            is_hosts = self._private.apart.is_to_blame(cause)
            if is_hosts is not False and self._renew():
                return True  # with nothing here, the host looks at nothing but what is asked for
            if is_hosts:
                return False
        if isinstance(error, SentTooMuch):
            self._private.here.notes.note_bad(tip, _MUCH)
        elif isinstance(cause, Stumbled | Refuted):
            self._private.here.notes.note_bad(tip)
        return False

    def _as_known(self, why: str) -> LaceError:
        if why == _MUCH:
            return SentTooMuch(f"{self._shown} sends more than a place may.")
        return UnreadableFile(f"{self._shown} lacks a part of it, or holds what git does not take.")

    def _deleted(self) -> LaceError:
        told = f"A mailbox at {self._shown} was deleted while it was asked for."
        return PlaceUnreachable(told, hint="Run the same command again.")


def _is_cut(error: LaceError) -> bool:
    return isinstance(error, PlaceUnreachable) and not isinstance(error, SentTooMuch)
