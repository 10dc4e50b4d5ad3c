"""States that are kept under a name: read as revisions are, hidden by no label, and merged by nobody (APP-4, CYB-8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lace_tui.model.deeds import plan_undo
from lace_tui.screens.written import undo_lines
from lazy.folder import checkout_files
from tests.circle.world import open_vault
from tests.cli.looking import error_of
from tests.cli.undoable import begin, files_of
from tests.people import Person
from vault.desks.checkout import apply_plan
from vault.desks.plan import CheckoutPlan
from vault.files import NotWritable
from vault.notes.revisions import MOST_KEPT
from vault.records import RecordHash
from vault.revisions.kept_states import keep_state


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


def test_a_kept_state_is_read_as_a_revision(kept: Person) -> None:
    """APP-4, CLAY-20 to CLAY-25: it was 'not yet', as if it might come, while cat showed it."""
    shallow = kept.lace("read", "y", "main@kept-1")
    assert (shallow["outcome"], shallow["number"]) == ("value", None)
    assert shallow["value"]["children"] == ["a.txt", "sub"]
    assert kept.lace("read", "x", "main@kept-1", "a.txt")["value"]["size"] == 4
    assert kept.lace("read", "y", "main@kept-1", "none.txt")["value"]["children"] == []
    assert set(kept.lace("read", "z", "main@kept-1", "sub")["value"]["children"]) == {"b.txt"}
    for care in ("u", "v", "w"):
        assert kept.lace("read", care, "main@kept-1")["outcome"] == "never", "it stands in no line"
    assert kept.lace("read", "y", "main@kept-2", expect=1)["outcome"] == "not-yet"
    kept.lace("prune", "--yes", "--keep", "1")
    assert kept.lace("read", "x", "main@kept-1", "a.txt")["outcome"] == "value", "of states as many stay"


def test_the_desks_tell_what_is_kept(kept: Person) -> None:
    """APP-4: whoever did not write the name down found it nowhere."""
    assert kept.lace("desks")["desks"][0]["kept"] == ["kept-1"]
    assert kept.text("desks").splitlines()[0].endswith("  with kept-1")


def test_no_label_hides_what_is_kept(kept: Person) -> None:
    """APP-4, CLAY-9: the label took the name, and the only copy was read no more."""
    told = error_of(kept.run("--json", "label", "kept-1"), "label-taken")
    assert told["message"] == "main@kept-1 is a state that lace kept."
    kept.lace("label", "kept-2")  # a later state gets another name
    kept.lace("label", "kept-x")
    assert kept.text("cat", "main@kept-1", "a.txt") == "two\n"


def test_a_kept_state_is_merged_by_nobody(kept: Person, tmp_path: Path) -> None:
    """APP-4, CLAY-58: the answer was that the line has it already, and it has not."""
    told = error_of(kept.run("--json", "merge", "main", "--from", "main@kept-1", "--strategy", "mate"), "bad-arguments")
    assert "no commit" in told["message"]
    kept.lace("archive", "main@kept-1", str(tmp_path / "kept.tar"))


def test_it_is_told_which_state_another_one_pushes_out(kept: Person) -> None:
    """APP-4: the first of more than 32 went without a word, and with it the only copy of what it held."""
    said = "! main@kept-1 {} kept no more"
    with open_vault(kept) as vault, vault.writing() as w:
        for number in range(MOST_KEPT - 1):
            keep_state(w.store, vault.node.text, "main", RecordHash.parse(f"P.{number:042d}0.H3"))
    for text in ("four\n", "five\n"):
        kept.write("a.txt", text)
        kept.lace("commit", "-m", text)
    kept.write("a.txt", "six\n")
    shown, told = kept.text("undo", "--dry-run"), kept.lace("undo", "--dry-run")["pushed_out"]
    assert (said.format("would be") in shown, told) == (True, "main@kept-1")
    with open_vault(kept) as vault:
        assert any(line.plain.startswith(said.format("would be")) for line in undo_lines(plan_undo(vault).undone))
    assert said.format("is") in kept.text("undo")
    kept.lace("checkout", "main@1", "sub", expect=2)
    kept.lace("commit", "-m", "six")
    kept.lace("checkout", "main@1", "a.txt")
    assert kept.lace("checkout", "main@2", "a.txt")["pushed_out"] == "main@kept-2"
    kept.write("a.txt", "seven\n")
    planned, done = kept.lace("undo", "--dry-run"), kept.lace("undo")
    assert planned["pushed_out"] == done["pushed_out"] == "main@kept-3"


def test_a_visit_between_a_checkout_that_was_cut_off_and_the_same_again_changes_no_undo(
    alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-4, APP-13: the half that was brought before it was then what an undo went back to."""
    begin(alice)
    for text in ("one\n", "two\n", "three\n"):
        for name in ("deep/a.txt", "deep/b.txt"):
            alice.write(name, text)
        alice.lace("commit", "-m", text.strip())
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    alice.lace("checkout", "main@2", "deep")
    had = files_of(alice)

    def cut_off(folder: Path, plan: CheckoutPlan, **how: Any) -> None:
        apply_plan(folder, plan._replace(writes=plan.writes[:1]), **how)
        raise NotWritable("The folder cannot be written.")

    with monkeypatch.context() as patched:
        patched.setattr(checkout_files, "apply_plan", cut_off)
        assert alice.run("checkout", "main@3", "deep").code
    assert files_of(alice) != had
    alice.lace("sync", "stick")
    alice.lace("checkout", "main@3", "deep")
    alice.lace("undo")
    assert files_of(alice) == had
