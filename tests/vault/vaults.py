"""Vaults for tests: made by the core itself, with a clock and randomness of their own, no command line."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from lazy.belonging.circle import accept, invite
from lazy.folder.update import update
from lazy.places.adding import add_place
from lazy.sync import sync
from vault.audit.trail import as_it_lies
from vault.beginning import found_vault
from vault.folder.work import commit
from vault.records import Seal
from vault.releasing import release
from vault.revisions.labels import set_label
from vault.store.schema import DERIVED_TABLES
from vault.surroundings import Surroundings
from vault.vault import Vault

__all__ = ["around", "befriend", "befriended", "derived", "found", "gathered", "lived_in", "trail", "write"]

_START_NS = 1_700_000_000 * 10**9


class _Clock:
    """A clock that moves a second at each look."""

    def __init__(self) -> None:
        self._looks = 0

    def __call__(self) -> int:
        self._looks += 1
        return _START_NS + (self._looks - 1) * 10**9


class _Draws:
    """Randomness that follows from a name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._draws = 0

    def __call__(self, size: int) -> bytes:
        self._draws += 1
        return blake2b(f"{self._name} {self._draws - 1}".encode(), digest_size=size).digest()


def around(root: Path, name: str) -> Surroundings:
    """Return a person's world, which can be copied: a moving clock, and randomness that follows from the name."""
    return Surroundings(
        data_root=root / f"home-{name}",
        machine=blake2b(name.encode(), digest_size=16).hexdigest(),
        host=f"{name}-box",
        now_ns=_Clock(),
        entropy=_Draws(name),
        sleep=lambda _seconds: None,
        program="test",
    )


def found(root: Path, name: str = "alice", group: str = "friends") -> Vault:
    """Begin a group in a folder called after the person."""
    folder = root / name
    folder.mkdir()
    return found_vault(folder, around(root, name), name=name, group=group)


def befriend(root: Path, inviter: Vault, name: str) -> Vault:
    """Let a second person join over a stick called `stick`, and sync until both know each other."""
    if not inviter.store.rows("SELECT 1 FROM place WHERE name = 'stick'"):
        add_place(inviter, "stick", str(root / "stick"), cwd=root)
    folder = root / name
    folder.mkdir()
    friend, _ = accept(folder, around(root, name), invite(inviter, name).encode(), name=name)
    for vault in (inviter, friend, inviter, friend):
        sync(vault, ["stick"])
    return friend


def befriended(root: Path, *names: str) -> tuple[Vault, ...]:
    """Return alice, who begins a group, and these friends of hers on a stick."""
    alice = found(root)
    return alice, *(befriend(root, alice, name) for name in names)


def gathered(root: Path, *names: str) -> tuple[Vault, ...]:
    """Return alice and these friends of hers, all with her first release: one line in `a.txt`."""
    alice = found(root)
    write(alice, "a.txt", "one\n")
    release(alice, None, "first")
    friends = [befriend(root, alice, name) for name in names]
    for friend in friends:
        update(friend)
    return alice, *friends


def write(vault: Vault, path: str, text: str) -> None:
    """Write a file in the vault's folder."""
    file = vault.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def lived_in(root: Path) -> tuple[Vault, Vault]:
    """Return two members' vaults with several commits, releases and syncs between them."""
    alice = found(root)
    write(alice, "notes.txt", "one\n")
    write(alice, "deep/er/song.txt", "la\n")
    commit(alice, "Begin")
    release(alice, None, "First")
    bob = befriend(root, alice, "bob")
    for number in range(3):
        write(alice, "notes.txt", f"one\n{number}\n")
        commit(alice, f"Step {number}")
    release(alice, None, "Second")
    write(bob, "bob.txt", "mine\n")
    release(bob, None, "Mine")
    for vault in (alice, bob, alice):
        sync(vault, ["stick"])
    write(alice, "unshared.txt", "not yet\n")
    commit(alice, "Not released")
    set_label(alice, "lived-in", "main")
    return alice, bob


def derived(vault: Vault) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of every derived table, in order."""
    return {table: sorted(vault.store.rows(f"SELECT * FROM {table}"), key=repr) for table in DERIVED_TABLES}


def trail(vault: Vault) -> Iterator[Seal]:
    """Yield the entries of the audit trail that can be read, in the order of their numbers."""
    return (entry for entry in as_it_lies(vault) if isinstance(entry, Seal))
