"""States that are kept under a name: hidden by no label (APP-4, CYB-8)."""

from __future__ import annotations

import pytest

from tests.cli.looking import error_of
from tests.cli.undoable import begin
from tests.people import Person


@pytest.fixture
def kept(alice: Person) -> Person:
    """Alice, of whose a.txt and sub/b.txt a state is kept as main@kept-1."""
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.write("sub/b.txt", "b\n")
    alice.lace("commit", "-m", "second")
    alice.write("a.txt", "three\n")
    assert alice.lace("undo")["kept_as"] == "main@kept-1"
    return alice


def test_no_label_hides_what_is_kept(kept: Person) -> None:
    """APP-4, CLAY-9: the label took the name, and the only copy was read no more."""
    told = error_of(kept.run("--json", "label", "kept-1"), "label-taken")
    assert told["message"] == "main@kept-1 is a state that lace kept."
    kept.lace("label", "kept-2")  # a later state gets another name
    kept.lace("label", "kept-x")
    assert kept.text("cat", "main@kept-1", "a.txt") == "two\n"
