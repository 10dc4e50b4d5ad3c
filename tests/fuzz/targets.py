"""The parsers of foreign bytes, each with inputs that a real circle of friends makes."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from io import BytesIO
from pathlib import Path

import zstandard

from lazy.belonging.beacon import Beacon, Presence
from lazy.belonging.invitations import Invitation
from lazy.interlace.ads import read_advertisements
from lazy.interlace.facts import BlockPhase, format_block, parse_block
from lazy.interlace.negotiate import Hello
from lazy.interlace.plan import GROUP_SHARED
from lazy.visits.terms import hello_facts
from tests.fuzz.engine import Target
from tests.fuzz.git import GIT
from tests.fuzz.interlace import INTERLACE
from tests.fuzz.resting import RESTING
from tests.fuzz.roads import ROADS
from tests.fuzz.words import WORDS
from tests.lazy.interlace.links import hello_facts as some_hello
from tests.vault.vaults import lived_in
from transports.address import parse_address as parse_place
from transports.bundles.bundle import BundleReader
from transports.bundles.contents import BundleList, read_list
from transports.bundles.short import read_parts, shortened, shortest
from transports.drop.place import Drop
from transports.errors import BadBundle
from transports.git.tree import Filed
from transports.index.runfile import decode_run
from transports.listing import Listing
from transports.mailbox import Mailbox
from transports.reading import read_head
from transports.snapshot import APP as SNAPSHOT
from transports.snapshot import SnapshotHead
from vault.audit.entries import read_audit
from vault.config import Settings
from vault.desks import scancache
from vault.desks.chunks import pieces_of
from vault.desks.glance import parse_look
from vault.desks.ignore import Ignore
from vault.desks.pages import parse_page
from vault.desks.paths import split_path
from vault.desks.tree import read_directory
from vault.files import write_atomic
from vault.identity.mark import MarkState
from vault.names import Version, check_group_name, check_label, check_name
from vault.profile import Manifest, plain_text, read
from vault.records import Plex, RecordHash, Seal, Tai, Verifier, b64a, parse_record
from vault.records.hashes import is_record
from vault.records.reader import iter_records, iter_verdicts
from vault.records.thin import rebuild, thin
from vault.revisions.cases import parse_address as parse_case_address
from vault.revisions.cases import parse_side
from vault.rules.check import check
from vault.rules.module import compile_module
from vault.rules.parse import parse_program
from vault.rules.predicates import Base
from vault.sexp import dumps, loads
from vault.suite import SigningKey

__all__ = ["TARGETS", "target"]

_KEY = SigningKey.from_seed(bytes(range(32)))
_SEXP_LIMIT = 1 << 20
_POINTER, _FOOTER_BYTES = struct.Struct("<QI"), 52  # where the list of a bundle lies, and what follows it
_PROFILE = (Base("E", 2), Base("F", 1))
_PROGRAMS = (
    GROUP_SHARED.text,
    "A(X) :- E(X, Y), F(Y), not B(X).\nB(X) :- E(X, 'b'), X < 'c'.\n",
    "P(X, Y) :- E(X, Y).\nP(X, Z) :- P(X, Y), E(Y, Z).\n",
)


class World:
    """Files and records of two friends, made once."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="fuzz-")
        root = Path(self.folder.name)
        self.root = root
        alice, bob = lived_in(root)
        self.group = alice.group
        self.records = {record: stored for _, record, stored in alice.store.bodies()}
        self.blobs = [bytes(row[0]) for row in alice.store.rows("SELECT blob FROM dircache")]
        self.sexps = [path.read_bytes() for path in sorted((alice.dot / "lazy").rglob("*.sexp"))]
        drop = Drop.open(root / "stick")
        self.files = [path for path in sorted((root / "stick").rglob("*")) if path.is_file()]
        self.heads = [
            head.head for node in drop.nodes(self.group) if (head := read_head(Mailbox(drop, self.group, node)))
        ]
        self.mark = next((root / "home-alice" / "marks").iterdir()).read_bytes()
        alice.close()
        bob.close()

    def ending(self, *ends: str) -> tuple[bytes, ...]:
        """Return the medium's files whose names end so."""
        return tuple(path.read_bytes() for path in self.files if path.name.endswith(ends))


@cache
def world() -> World:
    """Make the world at first use."""
    return World()


def _stored() -> tuple[bytes, ...]:
    by_app: dict[str, bytes] = {}
    for stored in world().records.values():
        record = parse_record(stored, verify=False)
        app = record.plex.app if isinstance(record, Seal) else getattr(record, "app", "")
        by_app.setdefault(app, stored)
    return tuple(by_app.values())


def _is_tree(stored: bytes) -> bool:
    return b"\nApp: lace/tree\n" in stored


def _framed(record: object) -> bytes:
    plex = record.plex if isinstance(record, Seal) else record
    assert isinstance(plex, Plex)
    extras = "".join(f"{name}: {value}\n" for name, value in plex.extras)
    return f"{plex.group}\n{plex.app}\n{plex.name}\n{extras}\n".encode() + plex.blob.data


def _unframed(data: bytes) -> Plex:
    head, _, body = data.partition(b"\n\n")
    group, app, name, *extras = [*head.decode("utf-8", "replace").split("\n"), "", "", ""]
    if app == SNAPSHOT:  # a head is read only from its own node
        name = _KEY.verifier.text
    pairs = (line.partition(": ") for line in extras if line)
    return Plex.build(
        group=group, app=app, name=name, tai=Tai.ZERO, extras=[(key, value) for key, _, value in pairs], data=body
    )


def _profile(data: bytes) -> None:
    """Judge a record that is well-formed and sealed, whatever its headers and body say."""
    plex = _unframed(data)
    sealed = Seal.sign(plex, _KEY)
    for record in (plex, sealed):
        again = parse_record(record.encode())
        assert again.hash == record.hash
        _quietly(lambda record=record: _walk(read(record)))  # type: ignore[misc]
    _quietly(lambda: read_audit(sealed))
    _quietly(lambda: SnapshotHead.read(sealed, plex.group))


def _walk(value: object) -> None:
    if isinstance(value, Manifest):
        pieces = pieces_of(lambda record: value if record == value.hash else b"x", value.hash)
        for _, _piece in zip(range(1000), pieces or (), strict=False):
            pass


def _quietly(act: Callable[[], object]) -> None:
    from vault.errors import LaceError

    try:
        act()
    except LaceError:
        return


def _stream(data: bytes) -> None:
    for _ in iter_verdicts(BytesIO(data)):
        pass
    for _ in iter_records(BytesIO(data)):
        pass


@cache
def _parts() -> dict[RecordHash, bytes]:
    """Return what thin records leave out."""
    found: dict[RecordHash, bytes] = {}
    for stored in _stored():
        record = parse_record(stored, verify=False)
        plex = record.plex if isinstance(record, Seal) else record
        assert isinstance(plex, Plex)
        found |= {plex.hash: plex.encode(), plex.blob.hash: plex.blob.encode()}
    return found


def _thin(data: bytes) -> None:
    rebuild(data, _parts().get)


def _bundle(data: bytes) -> None:
    reader = BundleReader(BytesIO(data))
    run, _, _ = reader._index()  # the digest over all of it would stop nearly every change
    listing = Listing([run])
    _quietly(reader.verify_all)
    for _, frame in listing.reads([record for record, _ in listing.items()]):
        for _ in reader.read_records(frame):
            pass


def _lists() -> tuple[bytes, ...]:
    """Return what bundles list of themselves, unpacked."""
    found = []
    for data in world().ending(".bnd"):
        start, length = _POINTER.unpack_from(data, len(data) - _FOOTER_BYTES)
        found.append(zstandard.ZstdDecompressor().decompress(data[start : start + length]))
    return tuple(found)


def _list(data: bytes) -> None:
    made = BundleList()
    for frame in read_list(zstandard.compress(data)):
        made.add(frame)
    tuple(read_list(made.encode()))


def _shorts() -> tuple[bytes, ...]:
    parts = [shortest(stored) for stored in _stored()]
    return ((shortened(parts) or b"") + b"".join(part.body for part in parts),)


def _short(data: bytes) -> None:
    parts, bodies = read_parts(memoryview(data), BadBundle, 1 << 16)
    if len(bodies) != parts.body_bytes:
        return
    made = [record for record, hash_ in parts.all(bodies) if hash_ is None or is_record(hash_, record)]
    assert len(made) == len(parts)
    assert sum(map(len, made)) == parts.whole_bytes


def _run(data: bytes) -> None:
    _quietly(lambda: decode_run(data, in_bundle=True))
    listing = Listing([decode_run(data)])
    found = listing.locate([record for record, _ in listing.items()])
    assert sum(1 for bundle in found for frame in bundle.frames for _ in frame.slices) <= len(listing)


def _sexp(data: bytes) -> None:
    value = loads(data.decode("utf-8", "replace"), _SEXP_LIMIT)
    assert loads(dumps(value), 1 << 24) == value


def _block(data: bytes) -> None:
    for phase in BlockPhase:
        _quietly(partial(_facts, data, phase))


def _facts(data: bytes, phase: BlockPhase) -> None:
    facts = parse_block(data, phase, 1 << 20)
    assert parse_block(format_block(facts), phase, 1 << 22) == facts
    _quietly(lambda: Hello.from_facts(facts))
    _quietly(lambda: read_advertisements(facts))


def _config(data: bytes) -> None:
    path = world().root / "fuzz.toml"
    write_atomic(path, data, durable=False)
    chosen = Settings.load(path)
    chosen.save()
    assert Settings.load(path).chosen == chosen.chosen


def _tree(data: bytes) -> None:
    root = RecordHash("P", bytes(32))

    class Page:
        """One page and nothing else."""

        def content(self, record: RecordHash) -> bytes | None:
            return data if record == root else None

        def pieces(self, record: RecordHash) -> Iterator[bytes] | None:
            content = self.content(record)
            return None if content is None else iter((content,))

        part = content

        def length(self, record: RecordHash) -> int | None:
            content = self.content(record)
            return None if content is None else len(content)

    parse_page(data)
    read_directory(Page(), root)


def _names(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    readers: tuple[Callable[[str], object], ...] = (
        check_name,
        check_group_name,
        check_label,
        Version.parse,
        Tai.parse,
        Verifier.parse,
        RecordHash.parse,
        b64a.decode,
        split_path,
        plain_text,
    )
    for reader in readers:
        _quietly(partial(reader, text))


def _case(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    _quietly(lambda: str(parse_case_address(text)))
    parse_side(text)


def _place(data: bytes) -> None:
    parse_place(data.decode("utf-8", "surrogateescape"), Path("/nowhere/at/all"))


def _rules(data: bytes) -> None:
    checked = check(parse_program(data), _PROFILE)
    assert compile_module(checked.text, _PROFILE).checked.text == checked.text


def _ignore(data: bytes) -> None:
    rules = Ignore(data)
    for path in ("a", "a/b.txt", "deep/er/song.txt", "x" * 200):
        rules.matches(path, is_dir=False)


def _scan(data: bytes) -> None:
    scancache.decode(data, data[4:20])
    parse_look(data, data[4:20])


def _pieces(data: bytes) -> None:
    Filed.decode(data, "0" * 40)


def _invitation(data: bytes) -> None:
    Invitation.decode(data.decode("utf-8", "replace"))


def _hello(data: bytes) -> None:
    hello_facts(data.decode("utf-8", "replace").split("\n"))


_GROUP = "friends/0123456789abcdef"
_BEACON = Beacon(_KEY.verifier, Tai(1, 2), "alice", 4271, Version(2, 1, 0), Presence.AVAILABLE, "when ready")


def _beacon(data: bytes) -> None:
    """Judge the bytes as a beacon's record, and as the body of one that is well-formed."""
    _quietly(lambda: Beacon.decode(data, _GROUP, _KEY.verifier))
    plex = Plex.build(group=_GROUP, app="lace/beacon", name=_KEY.verifier.text, tai=Tai.ZERO, data=data)
    found = Beacon.decode(plex.encode(), _GROUP, _KEY.verifier)
    assert found.body() == data


def _seeds_of_names() -> tuple[bytes, ...]:
    return (b"alice", b"1.2.3", b"friends", _KEY.verifier.text.encode(), next(iter(world().records)).text.encode())


_BUILDERS: dict[str, tuple[Callable[[bytes], object], Callable[[], tuple[bytes, ...]]]] = {
    "record": (parse_record, _stored),
    "stream": (_stream, lambda: (b"".join(_stored()[:3]), *_stored())),
    "thin": (_thin, lambda: tuple(thin(parse_record(stored)) for stored in _stored())),
    "profile": (_profile, lambda: tuple(_framed(parse_record(stored)) for stored in _stored())
        + tuple(_framed(Seal.sign(head.to_plex(world().group), _KEY)) for head in world().heads)),
    "tree": (_tree, lambda: tuple(_framed(parse_record(s)).partition(b"\n\n")[2] for s in _stored() if _is_tree(s))),
    "bundle": (_bundle, lambda: world().ending(".bnd", ".lcb", ".bundle")),
    "list": (_list, _lists),
    "short": (_short, _shorts),
    "run": (_run, lambda: world().ending(".run", ".idx", ".lcr")),
    "sexp": (_sexp, lambda: (*world().sexps, b'(a (b "c\\n") 1 -2)')),
    "block": (_block, lambda: (format_block(some_hello()), "\n".join(world().heads[0].hello).encode())),
    "hello": (_hello, lambda: ("\n".join(world().heads[0].hello).encode(),)),
    "rules": (_rules, lambda: tuple(text.encode() for text in _PROGRAMS)),
    "invitation": (_invitation, lambda: (_an_invitation(),)),
    "place": (_place, lambda: (b"/media/stick", b"git+ssh://host/repo.git", b"https://h:8/x", b"file:///a%20b")),
    "case": (_case, lambda: (b"bob/main@1.2.3", b"main@12", b"main@2024-05-06T07:08:09Z", b"main@label", b"bob@3")),
    "names": (_names, _seeds_of_names),
    "beacon": (_beacon, lambda: (_BEACON.body(), replace(_BEACON, last_release=None).body(), _BEACON.encode(_GROUP))),
    "config": (_config, lambda: (b'share = "commits"\nsync-interval = 77\n', b'sync-strategy = "periodic"\n')),
    "mark": (MarkState.decode, lambda: (world().mark,)),
    "ignore": (_ignore, lambda: (b"*.o\n!keep.o\n/build/\na/**/b\n[a-z]?\n# x\n\\#y\n",)),
    "scancache": (_scan, lambda: tuple(world().blobs)),
    **GIT,
    **ROADS,
    **INTERLACE,
    **WORDS,
    **RESTING,
    "pieces": (_pieces, lambda: (b"lace-pieces/0\nsize 3\n" + b"a" * 40 + b"\n",)),
}  # fmt: skip
TARGETS = tuple(_BUILDERS)


def _an_invitation() -> bytes:
    from lazy.belonging.circle import invite
    from tests.vault.vaults import around
    from vault.vault import Vault

    root = world().root
    with Vault(root / "alice", around(root, "alice")) as alice:
        return invite(alice, "cara").encode().encode()


@cache
def target(name: str) -> Target:
    """Return a target by its name, with its seeds."""
    run, seeds = _BUILDERS[name]
    found = seeds()
    assert found, name
    return Target(name, found, run)
