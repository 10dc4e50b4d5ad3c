"""What was read in a visit is known by its record and its very place, be it little or much (REC-5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import transports.proven as module
from transports.bundles.bundle import FrameReads, Slice
from transports.index.runs import BundleRef
from transports.layout import bundle_name
from transports.proven import Proven
from vault.records import RecordHash, Verifier

_BUNDLES = [BundleRef(Verifier(bytes(32)), bundle_name(digest), digest, 1) for digest in (b"a" * 32, b"b" * 32)]
_SLICES = st.builds(
    Slice,
    st.builds(RecordHash, st.sampled_from("PS"), st.sampled_from([bytes(32), b"x" * 32])),
    st.integers(0, 2),
    st.integers(1, 2),
)
_FRAMES = st.builds(
    FrameReads, st.integers(0, 1), st.just(9), st.just(9), st.lists(_SLICES, unique=True, max_size=6).map(tuple)
)
_READS = st.lists(st.tuples(st.sampled_from(_BUNDLES), _FRAMES), max_size=8)


@given(_READS, _READS, st.sampled_from([0, 3, 100]))
def test_nothing_counts_as_read_but_what_was_read_from_there(
    read: list[tuple[BundleRef, FrameReads]], asked: list[tuple[BundleRef, FrameReads]], few: int
) -> None:
    """Another record, offset, length, frame or bundle is another place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW", few)
        proven, known = Proven(), set[tuple[BundleRef, int, Slice]]()
        for bundle, frame in read:
            proven.add(bundle, frame)
            known |= {(bundle, frame.offset, one) for one in frame.slices}
            assert proven.holds(bundle, frame) == [True] * len(frame.slices)
        for bundle, frame in asked:
            assert proven.holds(bundle, frame) == [(bundle, frame.offset, one) in known for one in frame.slices]
