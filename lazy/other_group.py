"""What is refused because it belongs to another group: a request, a file, a mailbox or a vault."""

from __future__ import annotations

from vault.errors import DataError

__all__ = ["OtherGroup"]


class OtherGroup(DataError):
    """Something belongs to another group."""

    code = "other-group"
    exit_code = 43
    hint = "One vault holds one group; open the vault of that group."
