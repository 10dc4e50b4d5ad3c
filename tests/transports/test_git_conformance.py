"""The scenarios of the drop, run over a git remote: the same final sets on every road (APP-6, CYB-15).

Each test comes from `test_mailboxes`; only the place under it is another one.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.transports.git_hosts import bare_repository
from tests.transports.helpers import GROUP, key, put
from tests.transports.test_mailboxes import (
    POOL,
    chosen,
    steps,
    test_a_copy_replaces_a_reference,
    test_a_missing_bundle_costs_only_its_own_records,
    test_a_reader_reads_only_the_runs_it_has_not_seen,
    test_cancel_stops_between_frames,
    test_many_publications_keep_few_runs_and_all_records,
    test_nothing_changed_writes_nothing,
    test_reading_holds_one_frame_in_memory,
    test_three_nodes_share_a_drop_and_reference_each_other,
    test_what_is_not_listed_is_answered,
    test_what_is_published_is_fetched,
    test_withdrawn_records_leave_the_listing,
)
from transports.drop.place import Drop
from transports.git.place import GitPlace
from transports.git.remote import git_uri
from transports.mailbox import Mailbox, MailboxMedium
from transports.reading import SeenHead, fetch, read_head, read_listing
from vault.records.hashes import RecordHash

__all__ = [
    "test_a_copy_replaces_a_reference",
    "test_a_missing_bundle_costs_only_its_own_records",
    "test_a_reader_reads_only_the_runs_it_has_not_seen",
    "test_cancel_stops_between_frames",
    "test_many_publications_keep_few_runs_and_all_records",
    "test_nothing_changed_writes_nothing",
    "test_reading_holds_one_frame_in_memory",
    "test_three_nodes_share_a_drop_and_reference_each_other",
    "test_what_is_not_listed_is_answered",
    "test_what_is_published_is_fetched",
    "test_withdrawn_records_leave_the_listing",
]


Plan = list[tuple[int, set[int], set[int], bool]]


def final_sets(place: MailboxMedium, plan: Plan) -> dict[int, dict[RecordHash, bytes | None]]:
    """Let three nodes publish and withdraw as planned; return what each mailbox gives in the end."""
    heads: dict[int, SeenHead] = {}
    for number, added, removed, refers in plan:
        listings = [read_listing(Mailbox(place, GROUP, key(n).verifier), heads[n].head) for n in heads if n != number]
        items, references = chosen(added, listings if refers else [])
        gone = {POOL[index][0] for index in removed - added}
        _, heads[number] = put(place, key(number), items, gone, heads.get(number), references)
    found = {}
    for number, seen in heads.items():
        listing = read_listing(Mailbox(place, GROUP, key(number).verifier), seen.head)
        wanted = {record_hash for record_hash, _ in listing.items()}
        found[number] = {item.hash: item.record for item in fetch(place, GROUP, listing, wanted)}
    return found


@settings(max_examples=6, deadline=None)
@given(steps)
def test_every_road_ends_with_the_same_sets(plan: Plan) -> None:
    # APP-6
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        uri = git_uri(bare_repository(root / "remote.git"))
        writing = GitPlace.create(uri, root / "writing", entropy=os.urandom)
        over_git = final_sets(writing, plan)
        assert over_git == final_sets(Drop.create(root / "drop", entropy=os.urandom), plan)
        reading = GitPlace.create(uri, root / "reading", entropy=os.urandom)
        for number, expected in over_git.items():
            seen = read_head(Mailbox(reading, GROUP, key(number).verifier))
            assert seen is not None
            listing = read_listing(Mailbox(reading, GROUP, key(number).verifier), seen.head)
            assert {item.hash: item.record for item in fetch(reading, GROUP, listing, set(expected))} == expected
            assert None not in expected.values()


@pytest.fixture
def drop(tmp_path: Path) -> GitPlace:
    return GitPlace.create(git_uri(bare_repository(tmp_path / "remote.git")), tmp_path / "private", entropy=os.urandom)
