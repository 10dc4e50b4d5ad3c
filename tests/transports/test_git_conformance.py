"""The scenarios of the drop, run over a git remote: the same final sets on every road (APP-6, CYB-15).

Each test comes from `test_mailboxes`; only the place under it is another one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transports.git_hosts import bare_repository
from tests.transports.test_mailboxes import (
    test_a_copy_replaces_a_reference,
    test_a_missing_bundle_costs_only_its_own_records,
    test_a_reader_reads_only_the_runs_it_has_not_seen,
    test_cancel_stops_between_frames,
    test_many_publications_keep_few_runs_and_all_records,
    test_nothing_changed_writes_nothing,
    test_progress_counts_every_record,
    test_reading_holds_one_frame_in_memory,
    test_three_nodes_share_a_drop_and_reference_each_other,
    test_what_is_not_listed_is_answered,
    test_what_is_published_is_fetched,
    test_withdrawn_records_leave_the_listing,
)
from transports.git.place import GitPlace
from transports.git.remote import git_uri

__all__ = [
    "test_a_copy_replaces_a_reference",
    "test_a_missing_bundle_costs_only_its_own_records",
    "test_a_reader_reads_only_the_runs_it_has_not_seen",
    "test_cancel_stops_between_frames",
    "test_many_publications_keep_few_runs_and_all_records",
    "test_nothing_changed_writes_nothing",
    "test_progress_counts_every_record",
    "test_reading_holds_one_frame_in_memory",
    "test_three_nodes_share_a_drop_and_reference_each_other",
    "test_what_is_not_listed_is_answered",
    "test_what_is_published_is_fetched",
    "test_withdrawn_records_leave_the_listing",
]


@pytest.fixture
def drop(tmp_path: Path) -> GitPlace:
    return GitPlace.create(git_uri(bare_repository(tmp_path / "remote.git")), tmp_path / "private")
