"""`adopt`, through the real command line; what friends see of it is in `test_belonging`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.people import Person


def test_adopt_goes_on_as_a_new_node(alice: Person) -> None:
    before = alice.lace("init", "--name", "alice")
    data = alice.lace("adopt", "--name", "alice-2", "--yes")
    assert (data["was"], data["admitted"], data["name"]) == (before["node"], True, "alice-2")
    assert data["node"] != before["node"]
    assert data["group"] == before["group"]
    assert alice.lace("id")["node"] == data["node"]
    assert {m["node"] for m in alice.lace("members")["members"]} == {before["node"], data["node"]}


def test_a_person_is_asked_before_a_whole_vault_goes_on_as_another(alice: Person) -> None:
    """A word typed by mistake ends no identity; a copy, where all calls for it, is asked nothing."""
    before = alice.lace("init", "--name", "alice")
    alice.environ["TERM"] = "xterm"
    said_no = alice.run("adopt", stdin=b"n\n", tty=True)
    assert (said_no.code, "Go on as a new node? [y/N]" in said_no.err) == (1, True)
    assert "lace adopt --yes" in said_no.text
    assert alice.lace("id")["node"] == before["node"]
    assert alice.run("adopt", stdin=b"y\n", tty=True).code == 0
    assert alice.run("adopt", "--yes", tty=True).code == 0
    alice.environ["LACE_HOME"] = str(alice.home / "other")  # as on another machine
    restored = alice.run("adopt", tty=True)
    assert (restored.code, "[y/N]" in restored.err) == (0, False)


def test_adopt_without_the_old_key_needs_a_friend(alice: Person) -> None:
    alice.lace("init", "--name", "alice")
    alice.environ["LACE_HOME"] = str(alice.home / "other")
    result = alice.run("adopt")
    assert (result.code, "a friend must admit you" in result.text) == (0, True)
    assert not any(member["me"] for member in alice.lace("members")["members"])


def test_who_forgot_the_passphrase_is_told_how_to_go_on(alice: Person, tmp_path: Path) -> None:
    """APP-14: every command asked for a passphrase that nobody knew, and `adopt` too."""
    alice.lace("init", "--name", "alice")
    alice.write("a.txt", "one\n")
    secret = tmp_path / "secret"
    secret.write_text("forgotten\n")
    with secret.open("rb") as file:
        knows = replace(alice, environ={"LACE_PASSPHRASE_FD": str(file.fileno())})
        knows.lace("key", "protect")
    hint = alice.lace("adopt", "--yes", expect=16)["error"]["hint"]
    (key,) = (alice.home / "lace" / "keys").iterdir()
    assert str(key) in hint
    key.rename(tmp_path / "away")
    assert not alice.lace("adopt", "--yes")["admitted"]
    alice.lace("release", "1.0.0")


def test_where_nobody_can_be_asked_a_whole_vault_is_adopted_only_with_yes(alice: Person) -> None:
    """LAZ-1: a script that adopted a whole vault ended a key for good, to which nobody had agreed."""
    alice.lace("init", "--name", "alice")
    for words in (("adopt",), ("--json", "adopt")):
        done = alice.run(*words)
        assert done.code == 2
        assert "lace adopt --yes" in done.err
        assert done.err.startswith("Nothing says that this vault is a copy or was restored. A new key is for good")
        assert "[y/N]" not in done.err
    assert alice.run("adopt", "--yes").err == ""


def test_keys_under_another_home_are_not_said_to_be_of_another_machine_alone(alice: Person) -> None:
    """APP-2, LAZ-1: a home folder that was renamed, keys and marks with it, lies on the machine that it was on."""
    alice.lace("init", "--name", "alice")
    alice.environ["LACE_HOME"] = str(alice.home / "lace")
    alice.environ["HOME"] = str(alice.home.with_name("renamed"))
    alice.write("a.txt", "one\n")
    error = alice.lace("release", "1.0.0", expect=19)["error"]
    assert error["message"] == "This vault and its key were made on another machine, or in another home folder."
    assert "If the old machine is gone, or its home folder was renamed, run: lace sync first" in error["hint"]
