"""The error classes (REC-82)."""

from __future__ import annotations

import re

from vault.errors import DataError
from vault.records import RecordError
from vault.records import errors as e

CONCRETE = [getattr(e, name) for name in e.__all__ if getattr(e, name).code]


def test_each_rule_has_its_own_error() -> None:
    """REC-82: unique codes in the family's range, each with its rule, a hint and a sentence."""
    codes = [cls.code for cls in CONCRETE]
    assert len(codes) == len(set(codes))
    for cls in CONCRETE:
        assert issubclass(cls, RecordError)
        assert issubclass(cls, DataError)
        assert re.fullmatch(r"(record|b64a)(-[a-z0-9]+)+", cls.code)
        assert re.fullmatch(r"REC-\d+", cls.rule)
        assert 40 <= cls.exit_code <= 49
        assert cls.hint.endswith(".")
        assert cls.__doc__


def test_all_classes_are_given_away() -> None:
    defined = {name for name, value in vars(e).items() if isinstance(value, type) and issubclass(value, RecordError)}
    assert defined == set(e.__all__)
