"""`diff --changes` and `commit --changes`: edits that come in a file (CLAY-37 to CLAY-41)."""

from __future__ import annotations

import json
import os

import pytest

from tests.people import Person


def _history(alice: Person) -> None:
    alice.write("a.txt", "one\ntwo\nthree\n")
    alice.write("gone.txt", "bye\n")
    alice.lace("init", "--name", "alice")
    alice.lace("commit", "-m", "first")
    alice.write("a.txt", "one\nTWO\nthree\n")
    alice.write("new/b.bin", bytes(range(256)))
    (alice.folder / "gone.txt").unlink()
    (alice.folder / "empty").mkdir()
    (alice.folder / "link").symlink_to("a.txt")
    (alice.folder / "new" / "run.sh").write_text("#!/bin/sh\n")
    (alice.folder / "new" / "run.sh").chmod(0o755)
    alice.lace("commit", "-m", "second")


def _changes(alice: Person, *words: str) -> dict[str, object]:
    found = alice.run("diff", *words, "--changes")
    assert found.code == 0, found.err
    value: dict[str, object] = json.loads(found.out)
    return value


def _tree(person: Person, address: str) -> object:
    return person.lace("read", "z", address)["value"]


def test_edits_from_a_file_and_from_the_folder_do_the_same(alice: Person) -> None:
    """CLAY-40: the same tree and the same files; only what is found in the folder comes with notices about it."""
    _history(alice)
    there, back = _changes(alice, "main@1", "main@2"), _changes(alice, "main@2", "main@1")
    alice.write("changes.json", json.dumps(back))
    outside = alice.folder.parent / "changes.json"
    (alice.folder / "changes.json").rename(outside)
    undone = alice.lace("commit", "-m", "back", "--changes", str(outside))
    assert (undone["revision"], undone["deleted"]) == (3, ["empty", "link", "new/b.bin", "new/run.sh"])
    assert undone["notices"] == []
    assert (alice.folder / "gone.txt").read_text() == "bye\n"
    assert not (alice.folder / "new").exists()
    again = alice.run("--json", "commit", "-m", "again", "--changes", "-", stdin=json.dumps(there).encode())
    assert again.code == 0, again.err
    assert _tree(alice, "main@4") == _tree(alice, "main@2")
    assert os.access(alice.folder / "new" / "run.sh", os.X_OK)
    assert (alice.folder / "new" / "b.bin").read_bytes() == bytes(range(256))
    assert alice.lace("changes")["changed"] == []


def test_a_set_that_does_not_fit_changes_nothing(alice: Person) -> None:
    """CLAY-38, CLAY-39, CLAY-41: another tree, another content, one bad path: all of it is refused."""
    _history(alice)
    there = _changes(alice, "main@1", "main@2")
    back = _changes(alice, "main@2", "main@1")

    def refused(value: object, code: str) -> None:
        told = alice.run("--json", "commit", "-m", "x", "--changes", "-", stdin=json.dumps(value).encode())
        assert told.json["error"]["code"] == code, told.json
        assert alice.lace("changes") == before
        assert alice.lace("log", "-n", "1")["entries"][0]["message"] == "second"

    before = alice.lace("changes")
    refused(there, "stale-change-set")
    new = {"insert": {"kind": "a", "content": "x"}, "kind": "f", "mode": "-"}
    refused({**there, "changes": {"more.txt": new}}, "stale-change-set")  # which names no old content
    changed = json.loads(json.dumps(back))
    changed["changes"]["a.txt"]["patch"]["steps"][1]["old"] = ["other\n"]
    refused(changed, "patch-mismatch")
    changed = json.loads(json.dumps(back))
    changed["changes"]["../out.txt"] = {"insert": {"kind": "a", "content": "x"}, "kind": "f", "mode": "-"}
    refused(changed, "bad-path")
    changed = json.loads(json.dumps(back))
    changed["changes"]["more.txt"] = {"insert": {"kind": "a", "content": "x"}, "kind": "f", "mode": "-"}
    refused(changed, "patch-mismatch")
    changed = json.loads(json.dumps(back))
    changed["changes"]["a.txt"]["patch"] = {"kind": "b"}
    refused(changed, "patch-unsupported")
    changed = json.loads(json.dumps(back))
    changed["changes"]["link"] = {"delete": changed["changes"]["a.txt"]["mutate"]}
    refused(changed, "stale-change-set")
    for noise in ("", "[]", "{}", '{"format": "lace-changes/0"}', "[" * 100_000):
        told = alice.run("--json", "commit", "-m", "x", "--changes", "-", stdin=noise.encode())
        assert told.json["error"]["code"] == "patch-mismatch"
    assert not (alice.folder.parent / "out.txt").exists()


def test_what_was_edited_and_not_committed_is_not_overwritten(alice: Person) -> None:
    _history(alice)
    back = _changes(alice, "main@2", "main@1")
    alice.write("a.txt", "mine\n")
    told = alice.run("--json", "commit", "-m", "x", "--changes", "-", stdin=json.dumps(back).encode())
    assert told.code != 0
    assert (alice.folder / "a.txt").read_text() == "mine\n"
    assert (alice.folder / "link").is_symlink()


@pytest.mark.parametrize(
    ("path", "change", "said"),
    [
        ("way", {"insert": {"kind": "a", "content": "/etc/passwd"}, "kind": "l", "mode": "-"}, "absolute path"),
        ("new/way", {"insert": {"kind": "a", "content": "../../x"}, "kind": "l", "mode": "-"}, "outside"),
        (".VAULT/x", {"insert": {"kind": "a", "content": "x"}, "kind": "f", "mode": "-"}, "the vault itself"),
    ],
)
def test_what_the_folder_is_not_taken_with_comes_from_no_file_either(
    alice: Person, path: str, change: dict[str, object], said: str
) -> None:
    """APP-12, CLAY-40: a link out of the folder became mine by a file, and my own file there went for it, unsaid."""
    _history(alice)
    changes = {"format": "lace-changes/0", "before": _changes(alice, "main@1", "main@2")["after"]}
    value = {**changes, "after": changes["before"], "changes": {path: change}}
    told = alice.run("--json", "commit", "-m", "x", "--changes", "-", stdin=json.dumps(value).encode()).json["error"]
    assert (told["code"], said in told["message"]) == ("bad-path", True), told
    assert path in told["message"]
    assert "Nothing was changed" in told["hint"]
