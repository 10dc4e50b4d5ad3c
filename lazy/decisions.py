"""Decisions on one version, as records: which there are, which of them are the last, which agree (LAZ-40 to LAZ-43).

Of what a decision says it keeps, its result has the content: that of a side, or of a merge that was released. Beside
what the sides differ in it has also what the earlier decisions have on which it is built, and it is built on nothing
else. What says otherwise is no decision: nobody is asked to take one person's files under another one's name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from vault.desks.chunks import MissingObject
from vault.desks.diff import diff_trees
from vault.desks.pages import TreeError
from vault.desks.paths import twin_key
from vault.names import Version
from vault.profile import Resolution
from vault.records import RecordHash
from vault.revisions.graph import ancestors, is_ancestor, json_array
from vault.revisions.history import commit_info, sealed_record
from vault.store import Store
from vault.vault import Vault

__all__ = ["agreeing", "effective", "resolutions"]

# Others were built on what a revoked node decided. An older lace showed some whose result is no commit.
_SHOWN = (
    "SELECT r.hash, r.visible FROM resolution r JOIN commits c ON c.hash = r.result AND c.desk = r.desk"
    " WHERE r.desk = ? AND r.version = ? AND r.visible IN (1, 2) ORDER BY r.hash"
)
_COMMITS = "SELECT hash, commit_hash, version FROM release WHERE desk = ? AND hash IN (SELECT value FROM json_each(?))"
_MEMBERS = "SELECT 1 FROM commits JOIN member ON node = signer WHERE hash IN (SELECT value FROM json_each(?)) LIMIT 1"
_MAKERS = (
    "SELECT c.hash, c.signer, EXISTS (SELECT 1 FROM release WHERE commit_hash = c.hash) FROM commits c"
    " WHERE c.hash IN (SELECT value FROM json_each(?))"
)


def resolutions(vault: Vault, desk: str, version: Version, sides: set[str]) -> list[Resolution]:
    """Return the visible resolutions of one version that name every side there is and keep what they say (LAZ-42).

    Args:
        vault: where they are.
        desk: the desk.
        version: the version.
        sides: hash texts of the releases in conflict.
    """
    shown: list[Resolution] = []
    counting: set[RecordHash] = set()
    for hash_text, visible in vault.store.rows(_SHOWN, desk, str(version)):
        record = RecordHash.parse(str(hash_text))
        if (stored := vault.store.stored(record)) is not None:
            shown.append(Resolution.read(sealed_record(stored)))
            counting |= {record} if visible == 1 else set()
    found = [value for value in _honest(vault.store, shown) if sides <= {side.text for side in value.sides}]
    return [value for value in found if value.hash in counting]


def effective(vault: Vault, found: list[Resolution]) -> list[Resolution]:
    """Drop resolutions whose result is an ancestor of another one's: a later decision includes it."""
    covered: set[str] = set()
    for value in found:
        covered |= ancestors(vault.store, value.result) - {value.result.text}
    return [value for value in found if value.result.text not in covered]


def agreeing(vault: Vault, settled: list[Resolution], found: list[Resolution]) -> list[Resolution]:
    """Return the decisions for what is settled here: of the same content, whichever of them knew which.

    Decisions of equal content are one. The results of all of them hold what anybody gave up for it, which nobody has to
    be asked about again (LAZ-43). One that is built on what others made beside the version, without having it, is not
    among them: in my line it would take that back without a word (LAZ-4).
    """
    store = vault.store
    tree = commit_info(store, settled[0].result).tree
    results = {value.result for value in settled}
    others = [value for value in found if value.signer is not None and value.result not in results]
    same = [value for value in others if commit_info(store, value.result).tree == tree]
    if not same:
        return []
    held = {text for result in results for text in ancestors(store, result)}
    return [value for value in same if _gives_up_no_more(store, value, held, found)]


def _gives_up_no_more(store: Store, value: Resolution, held: Collection[str], found: list[Resolution]) -> bool:
    """Tell whether a decision is built on no work but its maker's and that of other decisions, and has what those have.

    Args:
        store: where they are.
        value: the decision.
        held: commits that what is settled is built on.
        found: all decisions on the version.
    """
    below = {one.result: ancestors(store, one.result) for one in found}
    made = [one for one in found if one.signer is not None and one.result.text in below[value.result]]
    more = json_array(f'"{text}"' for text in below[value.result].difference(held))
    for text, signer, is_released in store.rows(_MAKERS, more):
        if not any(
            str(text) in below[one.result]
            and str(signer) == str(one.signer and one.signer.text)
            and (not is_released or str(text) == one.result.text)
            for one in made
        ):
            return False
    tree = commit_info(store, value.result).tree
    trees = {commit_info(store, one.result).tree for one in made} - {tree}
    try:
        return not trees or _has_of(store, value, tree, trees)
    except (MissingObject, TreeError):
        return False


def _has_of(store: Store, value: Resolution, tree: RecordHash, earlier: Collection[RecordHash]) -> bool:
    """Tell whether a tree has what earlier decisions have beside the sides, but for where these clash themselves."""
    claim = _claim(store, value)
    if claim is None:
        return False
    contested, side = _contested(store, value), commit_info(store, min(claim.sides, key=str)).tree
    beside = [_paths(store, side, one) - contested for one in {*earlier, tree}]
    lost = {path for one in earlier for path in _paths(store, one, tree) - contested}
    return all(sum(path in paths for paths in beside) > 1 for path in lost)


# What a decision keeps


class _Claim(NamedTuple):
    """What a decision says: its result, the commit whose content that keeps, and the commits of the sides."""

    value: Resolution
    kept: RecordHash
    sides: frozenset[RecordHash]


def _honest(store: Store, shown: Iterable[Resolution]) -> list[Resolution]:
    """Return the decisions whose results are what they say, whatever the order; each may stand on others of them."""
    waiting = [claim for value in shown if (claim := _claim(store, value)) is not None]
    known: dict[RecordHash, Resolution] = {}  # by result
    found: list[Resolution] = []
    while waiting:
        fitting = [claim for claim in waiting if _fits(store, claim, known)]
        if not fitting:
            break
        found += [claim.value for claim in fitting]
        known |= {claim.value.result: claim.value for claim in fitting}
        taken = {claim.value.hash for claim in fitting}
        waiting = [claim for claim in waiting if claim.value.hash not in taken]
    return sorted(found, key=lambda value: value.hash.text)


def _claim(store: Store, value: Resolution) -> _Claim | None:
    """Return what a decision says; None where the side that it keeps was not released under that version."""
    named = [*value.sides, *([value.release] if value.release else [])]
    rows = store.rows(_COMMITS, value.desk, json_array(f'"{release.text}"' for release in named))
    found = {str(text): (RecordHash.parse(str(commit)), str(version)) for text, commit, version in rows}
    sides = {text: commit for text, (commit, version) in found.items() if version == str(value.version)}
    if value.release is not None:
        kept = found[value.release.text][0] if value.release.text in found else None
    else:
        kept = sides.get(str(value.chosen))
    return None if kept is None else _Claim(value, kept, frozenset(sides.values()))


def _fits(store: Store, claim: _Claim, known: Mapping[RecordHash, Resolution]) -> bool:
    """Tell whether a decision is built on the sides and on decisions that are known, and keeps what it says."""
    result = claim.value.result
    if result == claim.kept:  # a merge holds its maker's other work, too, and is called a merge
        return True
    info = commit_info(store, result)
    others = [parent for parent in info.parents if parent not in claim.sides and parent not in known]
    # Who was revoked may have decided, and that is not here. Nothing that anybody waits for is lost by it.
    if others and store.rows(_MEMBERS, json_array(f'"{parent.text}"' for parent in others)):
        return False
    kept = commit_info(store, claim.kept).tree
    if info.tree == kept:
        return True
    earlier = {commit_info(store, one).tree for one in known if one != result and is_ancestor(store, one, result)}
    try:
        changed, contested = _paths(store, kept, info.tree), _contested(store, claim.value)
        beside = {path for tree in earlier for path in _paths(store, kept, tree)} - contested
    except MissingObject:  # it was let go here, after all of it was here
        return True
    except TreeError:
        return False
    return _follows(changed, beside, contested)


def _follows(changed: Collection[str], beside: Collection[str], contested: Collection[str]) -> bool:
    """Tell whether paths are of what earlier decisions changed beside the sides, or cannot stand beside that.

    A file stands in the way of a folder, and of a name that some disks take for the same: who decides says which stays.
    """
    keys, disputed = set(map(_key, beside)), set(map(_key, contested))
    above = {upper for key in keys for upper in _upwards(key)}

    def is_of_it(path: str) -> bool:
        whole = _key(path)
        return any(at in keys or (at in above and (at == whole or at in disputed)) for at in _upwards(whole))

    return all(map(is_of_it, changed))


def _key(path: str) -> str:
    return "/".join(map(twin_key, path.split("/")))


def _upwards(path: str) -> Iterator[str]:
    """Yield a path and the folders it is in."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _contested(store: Store, value: Resolution) -> set[str]:
    """Return the paths in which the sides of a decision differ."""
    claim = _claim(store, value)
    trees = sorted({commit_info(store, side).tree for side in claim.sides}, key=str) if claim is not None else []
    return {path for tree in trees[1:] for path in _paths(store, trees[0], tree)}


def _paths(store: Store, before: RecordHash, after: RecordHash) -> set[str]:
    return {change.path for change in diff_trees(store, before, after)}
