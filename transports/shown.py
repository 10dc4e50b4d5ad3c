"""An address as an error may repeat it: errors are pasted and logged, so no password or token stands there."""

from __future__ import annotations

import re

__all__ = ["shown"]

_LONGEST = 60  # characters
# Who is let in stands before an @, and a token behind a question mark; what follows #V. is a key that anybody may know.
_SECRET = re.compile(r"(?<=://)(?:[^/?#]*|[^/?#:]*:(?!\d{1,5}(?:/|$))[^@]*)@|\?[^#]*|#(?!V\.).*", re.DOTALL)
_LOGIN = re.compile(r"^[^/@:]*:[^@]*@")


def shown(text: str) -> str:
    """Return an address or name that a person typed in quotes, cut short, without password or token."""
    plain = _SECRET.sub("", text) if "://" in text else _LOGIN.sub("", text)
    return repr(plain[:_LONGEST])
