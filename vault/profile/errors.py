"""What is said of a record that is valid Lace-010 and yet breaks docs/formats.md section 1."""

from __future__ import annotations

from vault.errors import DataError

__all__ = ["ProfileError"]


class ProfileError(DataError):
    """A record of a known App breaks a rule of the profile.

    Args:
        rule: the rule that is broken, said of the record: "its parents are not sorted".
        record: what the record is and its hash, when it is known.
    """

    code = "record-profile"
    exit_code = 47
    hint = "The program that wrote this record has a fault, or uses another profile: it is not stored."

    def __init__(self, rule: str, record: str = "") -> None:
        super().__init__(f"The {record or 'record'} breaks the profile: {rule.removesuffix('.')}.")
        self.rule = rule
