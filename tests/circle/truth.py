"""What is true of the circle at all times, and what once everybody has met (LAZ-4, LAZ-31, LAZ-38, CYB-10, CLAY-7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from lazy.conflicts import conflicts
from tests.circle.world import Circle, open_vault
from tests.people import Person
from vault.audit.trail import verify_trail
from vault.desks.chunks import entry_pieces
from vault.desks.tree import walk
from vault.errors import DataError
from vault.fsck.check import check
from vault.records import RecordHash
from vault.revisions.history import commit_info, releases
from vault.vault import Vault

__all__ = ["NotConverged", "close", "sound"]

_ROUNDS = 4  # every mailbox is read by everybody, and what that changed by everybody again
_AGREEMENTS = 8  # rounds of deciding: each ends every conflict that its decider sees


class NotConverged(AssertionError):
    """Two people who met everybody see different things, or something is lost or unsaid."""


def sound(circle: Circle, seen: dict[str, set[str]]) -> None:
    """Check what holds at any time: versions are readable and stay so, no conflict is silent, chains and views hold.

    Args:
        circle: the people.
        seen: by person, the releases seen so far; added to.
    """
    for name in circle.begun:
        with open_vault(circle.people[name]) as vault:
            shown = releases(vault.store)
            for release in shown:
                _content(vault, name, release.commit)
            seen.setdefault(name, set()).update(release.hash.text for release in shown)
            for gone in seen[name] - {release.hash.text for release in shown}:
                stored = vault.store.stored(RecordHash.parse(gone))
                _demand(stored is not None or name in circle.restored, f"{name} lost {gone}")
            _no_silence(vault, name)
            verdict = verify_trail(vault)
            _demand(verdict.ok, f"the audit chain of {name} breaks: {verdict}")
            report = check(vault)
            _demand(report.ok, f"fsck of {name}: {report.bad}")


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise NotConverged(otherwise)


def _content(vault: Vault, name: str, commit: RecordHash) -> str:
    """Read every byte of a version; return a digest of it."""
    total = blake2b()
    try:
        for path, entry in walk(vault.store, commit_info(vault.store, commit).tree):
            if not entry.is_dir:
                read = b"".join(entry_pieces(vault.store, entry))
                _demand(len(read) == entry.size, f"{path} has {len(read)} of {entry.size} bytes")
                total.update(f"{path} {entry.size}\n".encode() + read)
    except DataError as error:
        raise NotConverged(f"{name} cannot read {commit}: {error!r}") from error
    return total.hexdigest()


def _no_silence(vault: Vault, name: str) -> None:
    """Check that a version with several contents is a conflict: open, or settled by a resolution of all its sides."""
    contents: dict[tuple[str, str], set[str]] = {}
    sides: dict[tuple[str, str], set[str]] = {}
    for release in releases(vault.store):
        key = (release.desk, str(release.version))
        contents.setdefault(key, set()).add(release.content_sha512)
        sides.setdefault(key, set()).add(release.hash.text)
    told = {(c.desk, str(c.version)): c for c in conflicts(vault, include_settled=True) if c.version is not None}
    for key, found in contents.items():
        if len(found) == 1:
            continue
        _demand(key in told, f"{name} is not told that {key} has {len(found)} contents")
        if told[key].is_open:
            continue
        named: dict[str, set[str]] = {}
        for resolution, release in vault.store.rows(
            "SELECT r.hash, s.release FROM resolution r JOIN side s USING (p) WHERE r.desk = ? AND r.version = ?", *key
        ):
            named.setdefault(str(resolution), set()).add(str(release))
        _demand(any(sides[key] <= one for one in named.values()), f"{name} believes {key} settled by nobody")


# Once everybody has met


def close(circle: Circle) -> None:
    """Bring everybody together, compare; let them decide what is open and accept it, and compare their folders."""
    circle.say("closing")
    for name in [name for name in ("alice", "bob", "cara", "dave") if name not in circle.begun]:
        circle.welcome(name, circle.people["alice"])
    for person in circle.people.values():
        circle.rejoin_all(person)
        circle.visit_all(person)
        if circle.behind(person):
            circle.run(person, "adopt")
    for _ in range(_ROUNDS):
        for person in circle.people.values():
            circle.visit_all(person)
            circle.comeback(person, 0)
        if all(_stands(circle, person) for person in circle.people.values()):
            break
    _meet(circle)
    compare(circle)
    agree(circle)
    compare(circle)


def _stands(circle: Circle, person: Person) -> bool:
    node = str(circle.run(person, "id")["node"])
    return all(node in circle.members(friend) for friend in circle.people.values())


def _meet(circle: Circle) -> None:
    for _ in range(_ROUNDS):
        if not sum(circle.visit_all(person) for person in circle.people.values()):
            break


def compare(circle: Circle) -> None:
    """Check that everybody knows the same: records, vectors, members, heads, and conflicts with what is proposed."""
    found = {name: _known(person) for name, person in circle.people.items()}
    first = found["alice"]
    for name, known in found.items():
        for what, value in known.items():
            if value != first[what]:
                raise NotConverged(f"{what} of {name} differ from those of alice: {_difference(value, first[what])}")


def _difference(one: Any, other: Any) -> str:
    mine, theirs = set(one), set(other)
    return f"only {name_some(mine - theirs)}; alice only {name_some(theirs - mine)}"


def name_some(items: Iterable[Any]) -> str:
    """Return a few of many."""
    texts = sorted(map(str, items))
    return f"{len(texts)} {texts[:4]}"


def _known(person: Person) -> dict[str, list[Any]]:
    with open_vault(person) as vault:
        rows = vault.store.rows
        told = [c for c in conflicts(vault, include_settled=True) if c.version is not None]
        return {
            "members": rows("SELECT node, label, depth, admitted_by FROM member ORDER BY node"),
            "former members": rows("SELECT node, seq, plex FROM former ORDER BY node"),
            "vectors": rows("SELECT node, seq, plex, forked FROM vector WHERE seq > 0 OR forked ORDER BY node"),
            "holes": rows("SELECT want FROM hole ORDER BY want"),
            "heads": rows(
                "SELECT node, desk, max(seq), hash FROM release WHERE visible = 1 GROUP BY node, desk ORDER BY node"
            ),
            "releases": rows("SELECT hash, version FROM release WHERE visible = 1 ORDER BY hash"),
            "contents": sorted((r.hash.text, _content(vault, person.name, r.commit)) for r in releases(vault.store)),
            "resolutions": rows("SELECT hash FROM resolution WHERE visible = 1 ORDER BY hash"),
            "conflicts": sorted((c.id, str(sorted(str(side.release) for side in c.sides))) for c in told),
            "records": sorted(_apps(vault)),
        }


def _apps(vault: Vault) -> Iterator[tuple[str, str]]:
    """Return what is shared."""
    for app, digest in vault.store.rows(
        "SELECT y.s, hex(b.digest) FROM shared s JOIN body b USING (p) JOIN rec r USING (p) JOIN sym y ON y.id = r.app"
    ):
        yield str(app), str(digest)


def agree(circle: Circle) -> None:
    """Let alice decide what is open and everybody accept it, until all folders are the same and nothing is left."""
    for _ in range(_AGREEMENTS):
        for person in circle.people.values():
            _finish(circle, person)
            circle.visit_all(person)
        _meet(circle)
        if _is_agreed(circle):
            return
    trees = {name: tree_of(person) for name, person in circle.people.items()}
    still = {name: circle.run(person, "conflicts")["conflicts"] for name, person in circle.people.items()}
    left = {
        name: [(c["id"], c["kind"], c["version"], len(c["proposals"]), c["paths"]) for c in found]
        for name, found in still.items()
    }
    raise NotConverged(f"after {_AGREEMENTS} rounds of accepting: trees {trees}, open {left}")


def _finish(circle: Circle, person: Person) -> None:
    """Take everything in, accept what is proposed, decide the rest, and release."""
    for _ in range(40):
        circle.bring(person)
        found = circle.run(person, "conflicts")["conflicts"]
        if not found:
            break
        conflict = found[0]
        if conflict["proposals"]:
            chosen = min(str(proposal["resolution"]) for proposal in conflict["proposals"])
            circle.run(person, "resolve", conflict["id"], "--accept", chosen)
            continue
        side = min(str(side["release"] or side["commit"]) for side in conflict["sides"])
        answer = circle.run(person, "resolve", conflict["id"], "--prefer", side)
        if "error" in answer and answer["error"]["code"] == "path-undecided":  # others alone clash at some path
            circle.count += 1
            takes = [word for path in conflict["paths"] for word in ("--path", path, "--take", side)]
            circle.run(person, "resolve", conflict["id"], "--merged", f"5.{circle.count}.0", "--yes", *takes)
    else:
        raise NotConverged(f"{person.name} is never done with {[(c['id'], c['kind'], c['version']) for c in found]}")
    circle.run(person, "release", "--yes", "-m", "agreed")


def tree_of(person: Person) -> str:
    """Return the tree that somebody's folder stands on."""
    with open_vault(person) as vault:
        return str(vault.store.rows("SELECT tree FROM checkout WHERE desk = 'main'")[0][0])


def _is_agreed(circle: Circle) -> bool:
    if len({tree_of(person) for person in circle.people.values()}) > 1:
        return False
    for person in circle.people.values():
        if circle.run(person, "conflicts")["conflicts"]:
            return False
        answer = circle.run(person, "update", "--dry-run")
        if answer["written"] or answer["deleted"] or answer["conflicts"]:
            return False
    return len({_folder(person) for person in circle.people.values()}) == 1


def _folder(person: Person) -> tuple[tuple[str, bytes], ...]:
    return tuple(
        (path.relative_to(person.folder).as_posix(), path.read_bytes())
        for path in sorted(person.folder.rglob("*"))
        if path.is_file() and ".vault" not in path.parts
    )
