from __future__ import annotations

import os
import stat
import traceback
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from vault.errors import LaceError
from vault.files import NotWritable
from vault.identity.keys import (
    KeyExists,
    KeyExposed,
    KeyFileDamaged,
    KeyLocked,
    KeyMissing,
    KeyStore,
    PassphraseEmptyError,
)
from vault.records import b64a
from vault.records.hashes import Verifier
from vault.suite import SigningKey, SigningMisuseError

SEED = bytes(range(32))
posix = pytest.mark.skipif(os.name == "nt", reason="permission bits are POSIX")


@pytest.fixture
def store(tmp_path: Path) -> KeyStore:
    return KeyStore(tmp_path / "data", ops=1, memory=8192)


def test_key_is_stored_exactly_as_the_format_says(store: KeyStore) -> None:
    """docs/formats.md section 5."""
    key = store.create(SEED)
    verifier = SigningKey.from_seed(SEED).verifier
    assert key.verifier == verifier
    path = store.directory / f"{verifier.key.hex()}.key"
    assert path == store.path(verifier)
    assert path.read_text() == (f"lace-key/0\nsuite ed25519\nverifier {verifier.text}\nseed {b64a.encode(SEED)}\n")
    assert store.load(verifier).seed == SEED
    assert not store.is_protected(verifier)


def test_protected_key_needs_its_passphrase(store: KeyStore) -> None:
    """APP-11."""
    verifier = store.create(SEED, b"correct horse").verifier
    line = store.path(verifier).read_text().split("\n")[3].split(" ")
    assert line[:4] == ["sealed", "argon2id", "1", "8192"]
    assert [len(part) for part in line[4:]] == [22, 96]
    assert store.is_protected(verifier)
    assert store.load(verifier, lambda: b"correct horse").seed == SEED
    with pytest.raises(KeyLocked, match="does not open"):
        store.load(verifier, lambda: b"battery staple")
    with pytest.raises(KeyLocked, match="protected by a passphrase"):
        store.load(verifier)


def test_two_protected_keys_share_no_salt_and_no_nonce(store: KeyStore) -> None:
    lines = [
        store.path(store.create(bytes([n]) * 32, b"same").verifier).read_text().split("\n")[3].split(" ")
        for n in (1, 2)
    ]
    assert lines[0][4] != lines[1][4]
    assert lines[0][5][:32] != lines[1][5][:32]


@posix
def test_a_seed_that_a_cut_off_unprotect_left_in_the_open_goes(
    store: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-11: the file beside a protected key goes with the key's next use, and nobody else's does."""
    verifier = store.create(SEED, b"pass").verifier
    path = store.path(verifier)
    other = path.with_name(f"{'0' * 64}.key.0.tmp")
    other.write_bytes(b"")

    def killed(*_: object) -> None:
        os._exit(9)

    child = os.fork()
    if not child:
        try:
            monkeypatch.setattr(Path, "replace", killed)
            store.unprotect(verifier, lambda: b"pass")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    left = path.with_name(f"{path.name}.0.tmp")
    assert b64a.encode(SEED) in left.read_text()
    assert store.load(verifier, lambda: b"pass").seed == SEED
    assert not left.exists()
    left.write_bytes(b"")
    store.protect(verifier, b"other", lambda: b"pass")
    assert not left.exists()
    assert other.exists()


@posix
def test_who_protects_a_key_again_flushes_first_what_another_run_left(
    store: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-11: a run that was killed after it renamed the file left it open on the disk, and the next may be cut too."""
    verifier = store.create(SEED, b"pass").verifier
    done: list[str] = []
    flush, rename = os.fsync, Path.replace

    def flushed(fd: int) -> None:
        done.append("flush the names" if stat.S_ISDIR(os.fstat(fd).st_mode) else "flush the file")
        flush(fd)

    def renamed(path: Path, target: Path) -> Path:
        done.append("rename")
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(Path, "replace", renamed)
    store.protect(verifier, b"other", lambda: b"pass")
    assert done == ["flush the names", "flush the file", "rename", "flush the names"]


def test_unprotected_key_asks_nobody(store: KeyStore) -> None:
    verifier = store.create(SEED).verifier

    def ask() -> bytes:
        raise AssertionError("asked for a passphrase")

    assert store.load(verifier, ask).seed == SEED


@posix
def test_files_are_for_the_owner_only(store: KeyStore) -> None:
    """APP-11."""
    verifier = store.create(SEED).verifier
    assert stat.S_IMODE(store.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(store.path(verifier).stat().st_mode) == 0o600


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_exposed_file_is_refused_with_a_way_out(store: KeyStore, mode: int) -> None:
    """APP-11."""
    verifier = store.create(SEED).verifier
    store.path(verifier).chmod(mode)
    with pytest.raises(KeyExposed, match=f"{mode:04o}") as caught:
        store.load(verifier)
    assert "chmod go-rwx" in caught.value.hint


@posix
def test_directory_others_can_write_is_refused(store: KeyStore) -> None:
    verifier = store.create(SEED).verifier
    store.directory.chmod(0o777)
    with pytest.raises(KeyExposed):
        store.load(verifier)
    store.create(bytes(32))
    assert store.load(verifier).seed == SEED


def test_missing_keys_and_listing(store: KeyStore) -> None:
    assert store.list() == ()
    with pytest.raises(KeyMissing, match="not on this machine"):
        store.load(Verifier(bytes(32)))
    made = {store.create(bytes([n]) * 32).verifier for n in range(4)}
    (store.directory / "notes.txt").write_text("mine")
    (store.directory / "0.key").write_text("short")
    assert store.list() == tuple(sorted(made))


def test_existing_key_is_never_replaced(store: KeyStore) -> None:
    verifier = store.create(SEED, b"first").verifier
    with pytest.raises(KeyExists):
        store.create(SEED)
    assert store.load(verifier, lambda: b"first").seed == SEED


def test_misuse_is_refused_before_anything_is_written(store: KeyStore) -> None:
    with pytest.raises(PassphraseEmptyError):
        store.create(SEED, b"")
    with pytest.raises(SigningMisuseError):
        store.create(b"short")
    assert not store.directory.exists()


def test_unusable_root_is_an_environment_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotWritable):
        KeyStore(tmp_path / "file").create(SEED)


def damage(store: KeyStore, old: str, new: str) -> Verifier:
    verifier = store.create(SEED).verifier
    path = store.path(verifier)
    path.write_text(path.read_text().replace(old, new))
    return verifier


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("lace-key/0", "lace-key/1"),
        ("ed25519", "ed448"),
        ("verifier ", "verifier  "),
        ("seed ", "sealed "),
        ("\n", "\r\n"),
        ("seed 0", "seed !"),
        (b64a.encode(SEED), b64a.encode(SEED)[:-1] + "~"),
        (b64a.encode(SEED), b64a.encode(SEED[:31])),
        (b64a.encode(SEED), b64a.encode(SEED) + "\nmore"),
        (b64a.encode(SEED), "x" * 2000),
        (b64a.encode(SEED), b64a.encode(bytes(32))),
        (SigningKey.from_seed(SEED).verifier.text, SigningKey.from_seed(bytes(32)).verifier.text),
    ],
)
def test_damaged_files_are_refused_and_show_no_secret(store: KeyStore, old: str, new: str) -> None:
    """APP-11: no error, and no cause of one, quotes the file."""
    verifier = damage(store, old, new)
    with pytest.raises(KeyFileDamaged) as caught:
        store.load(verifier)
    told = "".join(traceback.format_exception(caught.value))
    told += "".join(traceback.format_exception(caught.value.__context__)) if caught.value.__context__ else ""
    assert b64a.encode(SEED)[:20] not in told.replace("\n", "")


@pytest.mark.parametrize("numbers", ["17 8192", "1 8191", "1 8292", "1 1073741825", "0 8192", "01 8192"])
def test_costs_out_of_range_are_refused_before_memory_is_taken(store: KeyStore, numbers: str) -> None:
    verifier = store.create(SEED, b"pass").verifier
    path = store.path(verifier)
    path.write_text(path.read_text().replace("argon2id 1 8192", f"argon2id {numbers}"))
    with pytest.raises(KeyFileDamaged):
        store.load(verifier, lambda: b"pass")


@given(st.integers(0, 400), st.integers(0, 255))
@example(328, 50)  # 8192 bytes of memory become 8292
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_changed_byte_is_noticed(store: KeyStore, at: int, value: int) -> None:
    for passphrase in (None, b"pass"):
        seed = SEED if passphrase is None else SEED[::-1]
        verifier = SigningKey.from_seed(seed).verifier
        path = store.path(verifier)
        path.unlink(missing_ok=True)
        store.create(seed, passphrase)
        data = bytearray(path.read_bytes())
        changed = data[at % len(data)] != value
        data[at % len(data)] = value
        path.write_bytes(bytes(data))
        try:
            key = store.load(verifier, lambda: b"pass")
        except LaceError:
            assert changed
        else:
            assert key.seed == seed
            assert not changed


def test_nothing_shows_the_seed(store: KeyStore) -> None:
    """APP-11."""
    key = store.create(SEED)
    shown = f"{store!r} {key!r} {key} {store._read(key.verifier)!r}"
    assert b64a.encode(SEED) not in shown
    assert repr(SEED) not in shown
