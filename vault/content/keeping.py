"""How long content below a path is kept here, and asking for what was let go (CLAY-79).

A rule says of a path of a desk how many of each member's newest releases keep their files below it; the rule with the
longest path that fits decides, and without one all are kept. `lace prune` follows the rules: of older releases that my
line contains and somebody else's log or vector says they know, those files' content goes, but for what a coming merge
may need, and what has a label or an open conflict (`vault.content.merge_needs`). A vector counts log entries,
not content: whoever fetched only a part, or let go of it too, has it no more than I do. So content goes only while it
lies in bundles of my own mailbox on a place too (`vault.content.copies`); two who meet over a line alone let go of
nothing. Names, sizes and sums stay, so the release stays visible and proven; reading such a file says that it was let
go, and `fetch` asks for it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vault.desks.chunks import MissingObject, check_here
from vault.desks.pages import Entry
from vault.desks.paths import is_at_or_below, join, split_path
from vault.desks.tree import lookup, read_directory, walk
from vault.errors import CallerError
from vault.notes.rules import KEEPING, MOST_RULES
from vault.records import RecordHash
from vault.revisions.graph import ancestors
from vault.revisions.history import ReleaseInfo, commit_info, line_head, releases
from vault.store import Store
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["BadKeep", "Keep", "LetGo", "Letting", "explained", "fetch", "give_up", "keeps", "letting"]
__all__ += ["set_keep"]

# Somebody who was revoked lost their device, or is met no more: what they had is nobody's.
_CONFIRMED = """
SELECT 1 FROM peer_vector JOIN member USING (node)
WHERE of_node = ? AND node NOT IN (?, of_node) AND seq >= ? LIMIT 1"""

_OLD = 2**31  # a place among releases that no rule reaches

# Since when: the position of the newest record then, which `Closure.is_closed` compares. The first time counts.
_ASKED = "UPDATE tomb SET wanted = CASE wanted WHEN 0 THEN (SELECT max(p) FROM body) ELSE wanted END WHERE hash = ?"


class BadKeep(CallerError):
    """A rule about keeping content that cannot be one."""

    code = "bad-keep"
    exit_code = 2
    hint = "Write: lace desk keep PATH 3 - or: lace desk keep PATH all"


class LetGo(CallerError):
    """The content was let go here by a prune; a friend or a place may still have it."""

    code = "let-go"
    exit_code = 2
    hint = "Ask for it with: lace fetch DESK@CASE PATH - then sync."


@dataclass(frozen=True, slots=True)
class Keep:
    """One rule.

    Args:
        path: relative to the desk; empty for all of it.
        newest: how many of each person's newest releases keep content there, from 1; None for all of them.
    """

    path: str
    newest: int | None

    def __post_init__(self) -> None:
        split_path(self.path)
        if self.newest is not None and not 1 <= self.newest < 2**31:
            raise BadKeep(f"At least the newest release keeps its content, not {self.newest}.")

    def covers(self, path: str) -> bool:
        """Tell whether a path is this one or below it."""
        return is_at_or_below(path, [self.path])


def keeps(store: Store, desk: str) -> tuple[Keep, ...]:
    """Return the rules of a desk, by path; none where what is kept of them rotted, for then nothing is let go."""
    return tuple(Keep(path, newest) for path, newest in store.note(KEEPING, desk))


def set_keep(vault: Vault, desk: str, rule: Keep) -> None:
    """Keep a rule in place of the one for its path; "all" takes it back where no rule is above.

    Raises:
        BadKeep: there are too many.
        Locked, StoreUnwritable: it cannot be kept.
    """
    with vault.writing() as w:
        others = [old for old in keeps(w.store, desk) if old.path != rule.path]
        if rule.newest is not None or _ruling(others, rule.path) is not None:
            others.append(rule)
        if len(others) > MOST_RULES:
            raise BadKeep(f"A desk has at most {MOST_RULES} rules about keeping content.")
        kept = tuple((each.path, each.newest) for each in sorted(others, key=lambda each: each.path))
        w.store.set_note(KEEPING, kept, desk)
        w.audit("lace-keep", f"{desk}/{rule.path}".rstrip("/"), {"newest": str(rule.newest or "all")})


def _ruling(rules: Iterable[Keep], path: str) -> Keep | None:
    return max((rule for rule in rules if rule.covers(path)), key=lambda rule: len(rule.path), default=None)


# What may go


@dataclass(slots=True)
class Letting:
    """What the rules let go of, and what of the same releases stays.

    Args:
        commits: hash texts of old releases' commits with something that may go.
        drop: size of each content that may go, unless something else needs it.
        keep: records of these commits' trees that stay with all they reach.
        needed: those of the others that stay since a coming merge, a label, a folder or an open conflict needs them,
            with all they reach.
        held: contents that would go but for `needed`.
    """

    commits: set[str] = field(default_factory=set)
    drop: dict[RecordHash, int] = field(default_factory=dict)
    keep: set[RecordHash] = field(default_factory=set)
    needed: set[RecordHash] = field(default_factory=set)
    held: set[RecordHash] = field(default_factory=set)


def letting(vault: Vault, watch: Watch = Watch()) -> Letting:
    """Find the old releases that the rules are about, and their files below the rules' paths."""
    found = Letting()
    for desk, _ in vault.store.notes(KEEPING):
        head = line_head(vault.store, vault.node.text, desk)
        line = ancestors(vault.store, head.commit) if head is not None else set()
        old = _old(vault, releases(vault.store, desk), line - {head.commit.text} if head is not None else line)
        if old:
            _add(vault, desk, line, old, found, watch)
    return found


def _add(vault: Vault, desk: str, line: set[str], old: Mapping[RecordHash, int], found: Letting, watch: Watch) -> None:
    """Add what the rules of one desk let go of."""
    from vault.content.merge_needs import needs  # hardly any desk has a rule

    needed, rules, going = needs(vault, line, watch), keeps(vault.store, desk), set[RecordHash]()
    for commit, rank in old.items():
        tree = commit_info(vault.store, commit).tree
        if not vault.store.have([tree]):
            continue
        one = Letting()
        _sort(vault.store, rules, tree, "", rank, one)
        found.commits.add(commit.text)
        found.keep |= one.keep
        if commit.text not in needed.commits:
            found.drop |= one.drop
            going.update(one.drop)
        elif one.drop:
            found.needed.add(tree)
            found.held.update(one.drop)
    read = needed.contents & going
    found.needed |= read
    found.held |= read


def _old(vault: Vault, found: Sequence[ReleaseInfo], line: set[str]) -> dict[RecordHash, int]:
    """Return released commits of a line that another member knows, each with its place among releases: 1 is newest."""
    newest: dict[str, int] = {}
    ranks: dict[RecordHash, int] = {}
    elsewhere: set[RecordHash] = set()
    me = vault.node.text
    members = {str(row[0]) for row in vault.store.rows("SELECT node FROM member")} - {me}
    for release in sorted(found, key=lambda each: each.seq, reverse=True):
        rank = newest[release.node] = newest.get(release.node, 0) + 1
        if release.node not in members | {me}:
            rank = _OLD  # who was revoked releases nothing any more: their last would keep its files for good
        if release.commit.text in line:
            ranks[release.commit] = min(rank, ranks.get(release.commit, rank))
            if release.node in members or vault.store.rows(_CONFIRMED, release.node, me, release.seq):
                elsewhere.add(release.commit)
    return {commit: rank for commit, rank in ranks.items() if commit in elsewhere}


def _sort(store: Store, rules: Sequence[Keep], tree: RecordHash, where: str, rank: int, found: Letting) -> None:
    below = where + "/" if where else ""
    if _ruling(rules, where) is None and not any(rule.path.startswith(below) for rule in rules):
        found.keep.add(tree)
        return
    for entry in read_directory(store, tree):
        path = join(where, entry.name)
        rule = _ruling(rules, path)
        if entry.is_dir:
            _sort(store, rules, entry.hash, path, rank, found)
        elif entry.kind == "f" and entry.size and rule is not None and rule.newest is not None and rank > rule.newest:
            found.drop[entry.hash] = entry.size
        else:
            found.keep.add(entry.hash)


# What went


def explained(store: Store, error: MissingObject) -> MissingObject | LetGo:
    """Return the error to show for content that is not here: that it was let go, if it was."""
    if store.rows("SELECT 1 FROM tomb WHERE hash = ?", error.record.text):
        return LetGo(f"The content {error.record.text} was let go here by a prune.")
    return error


def fetch(vault: Vault, tree: RecordHash, path: str) -> list[str]:
    """Ask the next sync for what was let go at or below a path of a tree; return the paths of those files.

    What was asked for before and is not all here is among them: a large file comes in many records.

    Raises:
        MissingObject, TreeError: the tree cannot be read, or says of a content what is not so.
        Locked, StoreUnwritable: it cannot be noted.
    """
    with vault.writing() as w:
        asked = []
        for name, each in _files(w.store, tree, path):
            if not w.store.rows("SELECT 1 FROM tomb WHERE hash = ?", each.hash.text) or _is_here(w.store, each):
                continue
            w.store.run(_ASKED, each.hash.text)
            if w.store.position(each.hash) is None:  # else what it lacks is waited for already
                w.store.holes.add([(each.hash, True)])
            asked.append(name)
        if asked:
            w.audit("lace-fetch", tree.text, {"path": path, "files": str(len(asked))})
    return asked


def give_up(vault: Vault, tree: RecordHash, path: str) -> tuple[list[str], list[str]]:
    """Ask no longer for what was let go at or below a path of a tree, as where nobody has it any more.

    Returns:
        The paths of files that are let go again, and of those that came in part: a prune lets go of these.

    Raises:
        MissingObject, TreeError, Locked, StoreUnwritable: as `fetch`.
    """
    with vault.writing() as w:
        given: list[str] = []
        begun: list[str] = []
        for name, each in _files(w.store, tree, path):
            if not w.store.rows("SELECT 1 FROM tomb WHERE hash = ? AND wanted > 0", each.hash.text):
                continue
            if w.store.position(each.hash) is not None:
                begun.append(name)
                continue
            w.store.run("UPDATE tomb SET wanted = 0 WHERE hash = ?", each.hash.text)
            w.store.holes.fill([each.hash])
            given.append(name)
        if given:
            w.audit("lace-fetch", tree.text, {"path": path, "given-up": str(len(given))})
    return given, begun


def _files(store: Store, tree: RecordHash, path: str) -> Iterator[tuple[str, Entry]]:
    """Yield the files at or below a path of a tree."""
    entry = lookup(store, tree, path) if path else None
    if entry is not None and not entry.is_dir:
        yield path, entry
    elif entry is not None or not path:
        yield from ((join(path, below), each) for below, each in walk(store, entry.hash if entry else tree))


def _is_here(store: Store, entry: Entry) -> bool:
    """Tell whether all of a content is here."""
    try:
        check_here(store, entry)
    except MissingObject:
        return False
    return True
