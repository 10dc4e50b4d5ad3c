"""A flipped bit in every class of file is found, named, and healed or explained; whole: python -m tests.faults.bits."""

from __future__ import annotations

import pytest

from tests.faults.bits import CLASSES, Bits, sweep


@pytest.fixture(scope="module")
def bits(tmp_path_factory: pytest.TempPathFactory) -> Bits:
    return Bits(tmp_path_factory.mktemp("bits") / "root")


@pytest.mark.parametrize("name", CLASSES)
def test_a_flipped_bit_is_found_named_and_healed_or_explained(bits: Bits, name: str) -> None:
    """APP-13, APP-14, CYB-11, LAZ-79: record, packs, settings, trail, key, mark, local tables, files, stick."""
    faults, _ = sweep(bits, name, 2, seed=1)
    assert faults == []
