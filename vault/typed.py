"""What a person typed, as an error may repeat it: errors are pasted and logged, so no password or token stands there.

A password may hold any character, also those that end a name, a host or a path elsewhere. So all that may be one is
left out, up to the last @ there is; what could as well be a host with its port keeps that name.
"""

from __future__ import annotations

import re

__all__ = ["holds_password", "masked", "shown"]

_LONGEST = 60  # characters
_MASK = "...@"
# These are compiled where they are met: every command loads this, and few repeat what somebody typed.
_END = r"[/?#]"
_HOST_AND_PORT = r"(?P<host>\[[^\]@]*\]|[^:@%]*)(?P<port>:\d{0,5})?"
_ADDRESS = "://?|//"  # one that lost a part of its :// is as good as whole
# A token behind a question mark; what follows #V. is a key that anybody may know.
_REST = r"(?s)\?[^#]*|#(?!V\.).*"


def shown(text: str) -> str:
    """Return an address or name that a person typed in quotes, cut short, without password or token."""
    return repr(masked(text)[:_LONGEST])


def masked(text: str) -> str:
    """Return a text without what may be a password or token in it; most have none and stay as they are."""
    begin, end = _login(text)
    plain = f"{text[:begin]}{':' * (text[begin] == ':')}{_MASK}{text[end:]}" if end else text
    return re.sub(_REST, "", plain) if re.search(_ADDRESS, plain) else plain


def holds_password(text: str) -> bool:
    """Tell whether a text holds what may be a password, as `https://NAME:PASSWORD@HOST` and its misspellings do."""
    begin, end = _login(text)
    return ":" in text[begin:end] or "%3a" in text[begin:end].lower()  # every command loads this, and no urllib for it


def _login(text: str) -> tuple[int, int]:
    """Return where in a text what lets somebody in begins, and where it ends behind its @; 0 and 0 where nothing is."""
    end = text.rfind("@") + 1
    scheme, slashes, rest = text.partition("://")
    start = len(text) - len(rest)
    if not slashes or ":" in scheme or 0 < end < start:
        return (0, end) if ":" in text[:end] or "//" in text[:end] else (0, 0)
    authority = re.split(_END, rest, maxsplit=1)[0]
    named = re.fullmatch(_HOST_AND_PORT, authority, re.ASCII)
    if named is not None:
        return (start + named.end("host"), end) if end and named["port"] else (0, 0)
    end = end or start + len("".join(authority.rpartition("%40")[:2]))
    return (start, end) if end > start else (0, 0)
