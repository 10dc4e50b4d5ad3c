"""A good record of each kind of the profile, and ways to spoil one."""

from __future__ import annotations

from collections.abc import Callable

from blake3 import blake3

from vault.desks.content import data_plex, tree_plex
from vault.names import Version
from vault.profile import (
    AuditRecord,
    Chunk,
    Commit,
    Founding,
    LogEntry,
    Manifest,
    Member,
    NodeCard,
    ProfileValue,
    Release,
    Request,
    Resolution,
    Revision,
    Revocation,
    group_id,
    read,
)
from vault.records import Plex, Record, RecordHash, Seal, Tai, b64a
from vault.suite import SigningKey

ALICE = SigningKey(b"a" * 32)
BOB = SigningKey(b"b" * 32)
TAI = Tai(1_800_000_000, 5)
FOUNDING = Founding.to_plex(group="friends", founder=ALICE.verifier, salt=bytes(range(32)), tai=TAI)
GROUP = group_id("friends", FOUNDING.hash.digest)
SUM = "sha512:" + "0f" * 64
INVITATION = b64a.encode(bytes(16))


def seal_hash(n: int) -> RecordHash:
    return RecordHash("S", blake3(b"%d" % n).digest())


def plex_hash(n: int) -> RecordHash:
    return RecordHash("P", blake3(b"%d" % n).digest())


A, B, C, D = sorted(seal_hash(n) for n in range(4))
T = plex_hash(0)

SEALED: dict[str, Plex] = {
    "founding": FOUNDING,
    "node": NodeCard.to_plex(group=GROUP, node=ALICE.verifier, label="alice", machine="attic pc", tai=TAI),
    "member": Member.to_plex(group=GROUP, node=BOB.verifier, label="bob", invitation=INVITATION, tai=TAI),
    "member, own device": Member.to_plex(group=GROUP, node=BOB.verifier, label="ann", same_person=True, tai=TAI),
    "request": Request.to_plex(
        group=GROUP, node=ALICE.verifier, label="al", invitation=INVITATION, proof=b"p" * 32, tai=TAI
    ),
    "revocation": Revocation.to_plex(
        group=GROUP, node=BOB.verifier, last_seq=7, digest=b"d" * 32, kept=[B, A], reason="lost\n", tai=TAI
    ),
    "commit": Commit.to_plex(group=GROUP, desk="main", parents=[B, A], tree=T, message="é\n", tai=TAI),
    "revision": Revision.to_plex(group=GROUP, desk="main", number=7, commit=A, prev=B, tai=TAI),
    "release": Release.to_plex(
        group=GROUP,
        desk="main",
        version=Version(2, 4, 1),
        commit=A,
        rev=B,
        content_sha512=SUM,
        message="done",
        tai=TAI,
    ),
    "resolution": Resolution.to_plex(
        group=GROUP, desk="main", version=Version(2, 4, 0), sides=[B, A], chosen=A, result=C, tai=TAI
    ),
    "merged": Resolution.to_plex(
        group=GROUP,
        desk="main",
        version=Version(2, 4, 0),
        sides=[A, B],
        release=D,
        result=C,
        reason="both were right",
        tai=TAI,
    ),
    "log": LogEntry.to_plex(group=GROUP, seq=2, lamport=9, prev=A, entries=[D, C, B], tai=TAI),
    "audit": AuditRecord.to_plex(node=ALICE.verifier, number=2, verb="release", parent=A, body=b"(audit)", tai=TAI),
}
UNSIGNED: dict[str, Plex] = {
    "data": data_plex(GROUP, b"hello"),
    "tree": tree_plex(GROUP, b"lace-tree/0 0\n"),
    "manifest": Manifest.to_plex(
        group=GROUP, digest=bytes(32), level=1, chunks=[Chunk(300, T), Chunk(20, plex_hash(1))]
    ),
}


def sealed(plex: Plex, key: SigningKey = ALICE) -> Seal:
    return Seal.sign(plex, key)


def known(record: Record) -> ProfileValue:
    value = read(record)
    assert value is not None
    return value


def changed(plex: Plex, **fields: object) -> Plex:
    whole: dict[str, object] = {
        "group": plex.group,
        "app": plex.app,
        "name": plex.name,
        "tai": plex.tai,
        "extras": plex.extras,
        "data": plex.blob.data,
    }
    return Plex.build(**(whole | fields))  # type: ignore[arg-type]


Extras = tuple[tuple[str, str], ...]


def without(name: str) -> Callable[[Extras], Extras]:
    return lambda extras: tuple(pair for pair in extras if pair[0] != name)


def with_value(name: str, value: str) -> Callable[[Extras], Extras]:
    return lambda extras: tuple((n, value if n == name else v) for n, v in extras)


def plus(*pairs: tuple[str, str]) -> Callable[[Extras], Extras]:
    return lambda extras: (*extras, *pairs)


def link_list(*values: str) -> Callable[[Extras], Extras]:
    return lambda extras: (
        *(("+Link", value) for value in values),
        *(pair for pair in extras if pair[0] != "+Link"),
    )
