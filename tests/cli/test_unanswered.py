"""A small command that was killed right after it took effect: the same words again are told what came of it (APP-13).

What was told once stays refused as before, and so does a new wish in the same words.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.looking import error_of
from tests.people import Person
from vault.identity.keys import KeyStore
from vault.profile import NodeCard
from vault.records import Seal, Tai
from vault.suite import SigningKey

EVE = SigningKey.from_seed(b"\x08" * 32)
KEY = EVE.verifier.text


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def _cut(person: Person, patch: pytest.MonkeyPatch, *words: str) -> None:
    """Let a command do all that it does, and end before its answer is out."""
    with patch.context() as patched:
        patched.setattr("lace_tui.cli.output.Output.answer", _killed)
        assert person.run(*words).code == 130


def _stranger(person: Person) -> str:
    """Let a record of eve's wait in quarantine; return its hash."""
    group, tai = str(person.lace("id")["group"]), Tai.parse("1700000000:000000000")
    sealed = Seal.sign(
        NodeCard.to_plex(group=group, node=EVE.verifier, label="eve", machine=None, tai=tai),
        EVE,
    )
    person.write("eve.records", sealed.encode())
    person.lace("record", "put", "eve.records", expect=1)
    return sealed.hash.text


def _again(person: Person, patch: pytest.MonkeyPatch, code: str, *words: str) -> dict[str, Any]:
    """Cut a command off and run it again; once it was told, the same words are refused."""
    _cut(person, patch, *words)
    acts = len(person.lace("audit", "list")["entries"])
    again = person.lace(*words)
    assert again["already"] is True
    assert len(person.lace("audit", "list")["entries"]) == acts, "it is done once"
    error_of(person.run("--json", *words), code)
    return again


def test_a_vault_begun_is_told(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("init", "--name", "alice", "--group", "band")
    _cut(alice, monkeypatch, *words)
    made = alice.lace("id")
    error_of(alice.run("--json", "init", "--name", "alice"), "vault-exists")  # of another group
    told = alice.run(*words)
    assert told.code == 0
    assert told.text.startswith("This folder is now shared as the group band, and you are alice in it.\n")
    assert "The same command did it before, and was cut off.\n" in told.text
    assert alice.lace("id") == made
    refused = error_of(alice.run("--json", *words), "vault-exists")
    assert refused["message"].endswith(": you are alice in the group band.")


def test_a_vault_that_was_begun_and_used_is_not_begun_again(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    _cut(alice, monkeypatch, "init", "--name", "alice")
    alice.write("a.md", "a\n")
    alice.lace("commit", "-m", "a")
    error_of(alice.run("--json", "init", "--name", "alice"), "vault-exists")


def test_a_copy_of_a_vault_that_nobody_was_told_of_is_begun_by_no_init(
    alice: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """LAZ-1: the note came along, and the copy was told to be shared; it is the same node once more."""
    _cut(alice, monkeypatch, "init", "--name", "alice")
    shutil.copytree(alice.folder, tmp_path / "copy")
    error_of(alice.run("--json", "init", "--name", "alice", cwd=tmp_path / "copy"), "vault-exists")
    assert alice.lace("init", "--name", "alice")["already"] is True


def test_an_invitation_accepted_is_told(
    ann: Person, bob: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """LAZ-3: its request is left where it was not yet; known by hand, it says plainly that it was accepted."""
    ann.lace("place", "add", "stick", str(tmp_path / "stick"))
    line, other = ann.lace("invite", "bob")["invite"], ann.lace("invite", "bob")["invite"]
    ann.lace("sync", "stick")
    with monkeypatch.context() as patched:
        patched.setattr("lazy.belonging.circle.leave_requests", _killed)
        assert bob.run("accept", line).code == 130
    assert error_of(bob.run("--json", "accept", other), "vault-exists")["message"].endswith("in the group friends.")
    done = bob.lace("accept", line)
    assert (done["already"], done["name"], [place["place"] for place in done["places"]]) == (True, "bob", ["stick"])
    ann.lace("sync", "stick")
    assert [member["name"] for member in ann.lace("members")["members"]] == ["alice", "bob"]
    refused = error_of(bob.run("--json", "accept", line), "vault-exists")
    assert refused["message"].startswith("This invitation was accepted in ")
    assert "lace sync stick" in refused["hint"]


def test_a_place_added_is_told(ann: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = ("place", "add", "stick", "../stick", "--encrypt")
    again = _again(ann, monkeypatch, "name-taken", *words)
    assert (again["encrypted"], again["uri"]) == (True, (tmp_path / "stick").as_uri())
    ann.lace("place", "remove", "stick")
    _cut(ann, monkeypatch, *words)
    assert "There was no such directory" not in ann.run(*words).err, "it was there before"


def test_a_place_that_is_another_by_now_is_refused(
    ann: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ("place", "add", "stick", "../stick")
    _cut(ann, monkeypatch, *words)
    error_of(ann.run("--json", "place", "add", "stick", "../other"), "name-taken")
    below = ann.folder / "below"
    below.mkdir()
    error_of(ann.run("--json", *words, cwd=below), "name-taken")  # a path from elsewhere is another path
    ann.lace("place", "remove", "stick")
    assert ann.lace(*words)["already"] is False


def test_a_place_removed_is_told(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ann.lace("place", "add", "stick", "../stick")
    again = _again(ann, monkeypatch, "no-such-place", "place", "remove", "stick")
    assert {**again, "already": False} == made
    ann.lace("place", "add", "stick", "../stick")
    assert ann.lace("place", "remove", "stick")["already"] is False


def test_who_was_admitted_by_key_is_told(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    again = _again(ann, monkeypatch, "already-member", "admit", "eve", "--key", KEY)
    assert (again["member"], again["node"]) == ("eve", KEY)


def test_who_asks_by_the_same_name_meanwhile_is_admitted(
    ann: Person, bob: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """LAZ-5: a request that a visit brought is a new wish, though no act of a person came between."""
    ann.lace("place", "add", "stick", str(tmp_path / "stick"))
    line = ann.lace("invite")["invite"]
    bob.lace("accept", line, "--name", "bob")
    ann.lace("sync", "stick")

    def asks() -> str:
        person = Person("cy", tmp_path / f"home {len(homes)}", tmp_path / f"folder {len(homes)}")
        homes.append(person)
        person.lace("accept", line, "--name", "cy")  # it was used, so nobody comes in by it alone
        ann.lace("sync", "stick")
        return str(person.lace("id")["node"])

    homes: list[Person] = []
    first = asks()
    _cut(ann, monkeypatch, "admit", "cy")
    second = asks()
    admitted = ann.lace("admit", "cy")
    assert (admitted["already"], admitted["node"]) == (False, second)
    assert {first, second} < {member["node"] for member in ann.lace("members")["members"]}


def test_who_was_admitted_and_revoked_since_is_not_told_to_belong(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    _cut(ann, monkeypatch, "admit", "eve", "--key", KEY)
    ann.lace("revoke", "eve", "--yes")
    error_of(ann.run("--json", "admit", "eve", "--key", KEY), "already-revoked")


def test_a_peer_joined_is_told(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    again = _again(ann, monkeypatch, "name-taken", "join", "eve", "../eve", "--key", KEY)
    assert (again["peer"], again["key"], again["place"]) == ("eve", KEY, "eve-place")


def test_a_peer_left_is_told(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    ann.lace("join", "eve", "../eve", "--key", KEY)
    _cut(ann, monkeypatch, "leave", "eve")
    told = ann.text("leave", "eve")
    assert "The same command did it before, and was cut off.\neve-place is no longer a place" in told
    error_of(ann.run("--json", "leave", "eve"), "no-such-peer")
    ann.lace("join", "eve", "../eve", "--key", KEY)
    assert ann.lace("leave", "eve")["already"] is False


def test_somebody_revoked_is_told(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    ann.lace("admit", "eve", "--key", KEY)
    words = ("revoke", "eve", "-m", "lost")
    _cut(ann, monkeypatch, *words, "--yes")
    told = ann.text(*words)  # nobody is asked to agree once more
    assert told.startswith("eve is revoked: nothing of their log counts.\nThe same command did it before")
    error_of(ann.run("--json", *words, "--yes"), "already-revoked")


def test_a_no_to_another_question_forgets_nothing(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came of a command that was cut off is still told after a person said no to one of the same verb."""
    ann.lace("admit", "eve", "--key", KEY)
    _cut(ann, monkeypatch, "revoke", "eve", "--yes")
    ann.environ["TERM"] = "xterm"
    assert ann.run("revoke", "self", stdin=b"n\n", tty=True).code == 1
    assert ann.lace("revoke", "eve", "--yes")["already"] is True


def test_a_revocation_that_waits_is_made_once(pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch) -> None:
    """It was sealed a second time."""
    _, bob = pair
    _cut(bob, monkeypatch, "revoke", "alice", "--yes")
    again = bob.lace("revoke", "alice", "--yes")
    assert (again["already"], again["waits"], again["above"]) == (True, True, ["alice"])
    (waits,) = bob.lace("requests")["revocations"]
    assert waits["revocation"] == again["revocation"]


def test_a_record_judged_again_is_told(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    strange = _stranger(ann)
    ann.lace("admit", "eve", "--key", KEY)
    again = _again(ann, monkeypatch, "not-in-quarantine", "quarantine", "admit", strange[:12])
    assert (again["hash"], again["stored"]) == (strange, True)


def test_a_record_dropped_is_dropped_once(ann: Person) -> None:
    strange = _stranger(ann)
    assert ann.lace("quarantine", "drop", strange)["already"] is False
    acts = len(ann.lace("audit", "list")["entries"])
    again = ann.lace("quarantine", "drop", strange)
    assert (again["already"], again["dropped_bytes"]) == (True, 0)
    assert len(ann.lace("audit", "list")["entries"]) == acts


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tar.zst"])
def test_an_archive_that_is_there_to_the_byte_is_made(ann: Person, tmp_path: Path, ending: str) -> None:
    """CYB-6: and any other file stays in the way: longer, shorter, of another state, or a link to the same bytes."""
    ann.write("a.md", "a\n")
    ann.lace("release", "1.0.0")
    file = tmp_path / f"all{ending}"
    words = ("archive", "main@1.0.0", str(file))
    made, held = ann.lace(*words), file.read_bytes()
    again = ann.lace(*words)
    assert (made["already"], again["already"], file.read_bytes()) == (False, True, held)
    assert {**again, "already": False} == made
    assert "it lies there already" in ann.text(*words)
    for content in (held + b"\0", held[:-1], b"", bytes(len(held))):
        file.write_bytes(content)
        error_of(ann.run("--json", *words), "file-exists")
        assert file.read_bytes() == content
    whole = tmp_path / "whole"
    whole.write_bytes(held)
    file.unlink()
    file.symlink_to(whole)
    error_of(ann.run("--json", *words), "file-exists")
    ann.write("a.md", "b\n")
    ann.lace("release", "1.1.0")
    file.unlink()
    file.write_bytes(held)
    error_of(ann.run("--json", "archive", "main@1.1.0", str(file)), "file-exists")


def test_a_key_that_has_just_this_passphrase_is_protected(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-11: with another it stays refused, and where it would have to be typed."""
    made = KeyStore.__init__
    monkeypatch.setattr(KeyStore, "__init__", lambda self, root: made(self, root, ops=1, memory=8 << 20))

    def protect(passphrase: str) -> Any:
        path = ann.home / "passphrase"
        path.write_text(f"{passphrase}\n")
        handle = os.open(path, os.O_RDONLY)
        ann.environ["LACE_PASSPHRASE_FD"] = str(handle)
        try:
            return ann.run("--json", "key", "protect")
        finally:
            del ann.environ["LACE_PASSPHRASE_FD"]
            os.close(handle)

    assert protect("four words").json["already"] is False
    again = protect("four words")
    assert (again.code, again.json["already"], again.json["protected"]) == (0, True, True)
    error_of(protect("other words"), "protected-already")
    refused = error_of(ann.run("--json", "key", "protect"), "protected-already")
    assert "lace key unprotect" in refused["hint"]
    assert protect("four words").code == 0, "what was refused changed nothing"


def test_a_new_node_is_told(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-1: the same words again went on as a third node, or asked whether to."""
    was = ann.lace("id")["node"]
    _cut(ann, monkeypatch, "adopt", "--name", "alice-2", "--yes")
    made = ann.lace("id")["node"]
    again = ann.lace("adopt", "--name", "alice-2", "--yes")
    assert (again["already"], again["was"], again["node"], again["admitted"]) == (True, was, made, True)
    after = ann.lace("adopt", "--name", "alice-2", "--yes")
    assert (after["already"], after["was"], ann.lace("id")["node"]) == (False, made, after["node"])


def test_a_copy_of_an_adopted_vault_that_nobody_was_told_of_goes_on_as_another(
    ann: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _cut(ann, monkeypatch, "adopt", "--yes")
    made = ann.lace("id")["node"]
    shutil.copytree(ann.folder, tmp_path / "copy")
    other = ann.run("--json", "adopt", "--yes", cwd=tmp_path / "copy").json
    assert (other["already"], other["was"]) == (False, made)
    assert ann.lace("id")["node"] == made


def test_requests_taken_off_the_list_are_told(
    pair: tuple[Person, Person], cara: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-5."""
    alice, bob = pair
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    bob.run("sync", "stick")
    again = _again(bob, monkeypatch, "no-such-peer", "requests", "--drop", "cara")
    assert [one["name"] for one in again["dropped"]] == ["cara"]
