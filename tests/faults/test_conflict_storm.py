"""Conflict storms: three people edit, rename, delete and clash in any order (faults row 31, CLAY-76, LAZ-4).

Three things hold however wild it was: a merge that asks nobody lost no line that only one side knew; every version
that was released can be read by everybody; and when people decide what is open, all folders become the same.

`LACE_STORMS=400` runs that many, long ones, other ones each time.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from unicodedata import normalize

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from lazy.conflicts import conflicts
from lazy.contested import Conflict, ConflictKind
from lazy.folder.heads import heads_to_update
from lazy.folder.update import update
from lazy.resolving.resolve import accept_resolution, resolve_merged, resolve_prefer
from tests.faults.circle import befriend, found, visit
from vault import releasing
from vault.desks.memory import MemoryObjects
from vault.desks.tree import read_entry, walk
from vault.folder import work
from vault.folder.checked_out import checkout_of
from vault.folder.unnamed import FolderEmptied
from vault.records import RecordHash
from vault.revisions.graph import ancestors
from vault.revisions.history import commit_info, releases
from vault.revisions.versions import next_version
from vault.vault import Vault

_STORMS = int(os.environ.get("LACE_STORMS", "0"))
# Twins in case, and in composed and decomposed form; a name that is a folder elsewhere; two ways to one content.
_NAMES = ("a.txt", "A.txt", "d/b.txt", "d", "caf\u00e9", "cafe\u0301", "e/c.txt")
_WHO = st.integers(0, 2)
_ROUNDS = 14


class Storm(RuleBasedStateMachine):
    """Three people, one stick."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="storm-"))
        self.people: list[Vault] = []
        self.number = 0
        self.lines: dict[RecordHash, frozenset[str]] = {}  # of every tree there ever was, by its hash
        self.versions: dict[RecordHash, dict[str, bytes]] = {}  # by commit of a release

    @initialize()
    def begin(self) -> None:
        alice = found(self.root)
        self.people = [alice, *(befriend(self.root, alice, name) for name in ("bob", "cara"))]
        for person in self.people:
            update(person)
            self._note(person)

    def teardown(self) -> None:
        try:
            if self.people:
                self._converge()
                self._check_versions()
        finally:
            for person in self.people:
                person.close()
            shutil.rmtree(self.root)

    # What people do

    @rule(who=_WHO, name=st.sampled_from(_NAMES), at=st.integers(0, 4))
    def edit(self, who: int, name: str, at: int) -> None:
        """Replace or add a line that nobody else has."""
        file = self.people[who].folder / name
        if file.is_dir() or any(above.is_file() for above in file.parents) or _has_twin(file):
            return
        lines = file.read_text().splitlines() if file.exists() else [f"{name} {i}" for i in range(5)]
        lines[at : at + 1] = [self._line()]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")

    @rule(who=_WHO, name=st.sampled_from(_NAMES))
    def delete(self, who: int, name: str) -> None:
        file = self.people[who].folder / name
        if file.is_file():
            file.unlink()

    @rule(who=_WHO, old=st.sampled_from(_NAMES), new=st.sampled_from((*_NAMES, "moved.txt", "e/moved.txt")))
    def rename(self, who: int, old: str, new: str) -> None:
        folder = self.people[who].folder
        source, target = folder / old, folder / new
        taken = target.exists() or any(above.is_file() for above in target.parents) or _has_twin(target)
        if source.is_file() and not taken:
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)

    @rule(who=_WHO)
    def commit(self, who: int) -> None:
        self._commit(self.people[who], "storm")

    @rule(who=_WHO)
    def release(self, who: int) -> None:
        self._release(self.people[who])

    @rule(who=_WHO)
    def sync(self, who: int) -> None:
        visit(self.people[who])

    @rule(who=_WHO)
    def update(self, who: int) -> None:
        self._update(self.people[who])

    @rule(who=_WHO, data=st.data())
    def decide(self, who: int, data: st.DataObject) -> None:
        person = self.people[who]
        open_ones = conflicts(person)
        if open_ones:
            self._decide(person, open_ones[0], data.draw(st.integers(0, 3)))

    # How it is judged

    def _line(self) -> str:
        self.number += 1
        return f"line {self.number}"

    def _commit(self, person: Vault, message: str) -> None:
        try:
            work.commit(person, message)
        except FolderEmptied:
            self._let_all_go(person, message)
        self._note(person)

    def _let_all_go(self, person: Vault, message: str) -> None:
        """Commit a folder without a file by name: its maker deleted the last one, is asked, and means it."""
        objects = MemoryObjects(fallback=person.store)
        tree = work.changes(person, overlay=objects).tree
        assert all(entry.is_dir for _, entry in walk(objects, tree))
        assert work.commit(person, message, [""])

    def _release(self, person: Vault) -> None:
        try:
            try:
                made = releasing.release(person)
            except FolderEmptied:
                self._let_all_go(person, "before")
                made = releasing.release(person)
        except (releasing.NothingToRelease, releasing.VersionTaken):
            return
        finally:
            self._note(person)
        tree = commit_info(person.store, made.commit).tree
        self.versions[made.commit] = _files(person, tree)

    def _note(self, person: Vault) -> None:
        """Remember the lines of every tree of a person's line, while they are here."""
        base = checkout_of(person)
        for text in ancestors(person.store, base.commit) if base else ():
            tree = commit_info(person.store, RecordHash.parse(text)).tree
            if tree not in self.lines and person.store.have([tree]) and person.store.is_closed(tree):
                self.lines[tree] = _lines(_files(person, tree))

    def _known(self, person: Vault, commit: RecordHash) -> tuple[frozenset[str], set[str]]:
        """Return the lines of a commit, and of everything it was built on."""
        trees = [commit_info(person.store, RecordHash.parse(t)).tree for t in ancestors(person.store, commit)]
        history = set().union(*(self.lines.get(tree, frozenset()) for tree in trees))
        return self.lines[commit_info(person.store, commit).tree], history

    def _update(self, person: Vault) -> None:
        self._commit(person, "before")
        before = checkout_of(person)
        heads = heads_to_update(person).heads
        for head in heads:
            tree = commit_info(person.store, head).tree
            self.lines.setdefault(tree, _lines(_files(person, tree)))
        sides = [self._known(person, commit) for commit in {*heads, *([before.commit] if before else [])}]
        done = update(person)
        after = checkout_of(person)
        self._note(person)
        if done.conflict:
            assert after == before  # nothing changes until a person decides
            assert work.changes(person).items == ()
            return
        assert after is not None
        now = self.lines[after.tree]
        for line in set().union(*(lines for lines, _ in sides)) - now:
            assert any(line not in lines and line in history for lines, history in sides), (
                f"{line!r} was lost by a merge that asked nobody"
            )

    def _decide(self, person: Vault, conflict: Conflict, choice: int) -> None:
        self._commit(person, "before")
        if conflict.proposals and choice % 2 == 0:
            accept_resolution(person, conflict.id, conflict.proposals[0].name)
        elif conflict.kind is ConflictKind.VERSION and choice == 3:
            version = next_version(person)
            made = resolve_merged(person, conflict.id, version)
            if made.release is not None:
                self.versions[made.commit] = _files(person, commit_info(person.store, made.commit).tree)
        else:
            side = conflict.sides[choice % len(conflict.sides)]
            resolve_prefer(person, conflict.id, str(side.release or side.commit))
        self._note(person)

    def _converge(self) -> None:
        """Sync, decide and update in turn until nothing is open; everybody then has the same folder."""
        for turn in range(_ROUNDS):
            for person in (*self.people, *self.people):
                visit(person)
            for who, person in enumerate(self.people):
                if conflicts(person) and who == turn % 3:
                    self._decide(person, conflicts(person)[0], 0)
                self._update(person)
                self._release(person)
                visit(person)
            for person in self.people:
                visit(person)
                self._update(person)
            trees = {base.tree if (base := checkout_of(person)) else None for person in self.people}
            if len(trees) == 1 and not any(conflicts(person) for person in self.people):
                break
        else:
            names = [[(c.kind, c.id) for c in conflicts(person)] for person in self.people]
            raise AssertionError(f"after {_ROUNDS} rounds: {len(trees)} folders, open: {names}")
        assert len({work.changes(person).tree for person in self.people}) == 1

    def _check_versions(self) -> None:
        for person in (*self.people, *self.people):
            visit(person)
        for person in self.people:
            shared = {release.commit for release in releases(person.store)}
            assert self.versions.keys() <= shared
            for commit, files in self.versions.items():
                assert _files(person, commit_info(person.store, commit).tree) == files


def _has_twin(file: Path) -> bool:
    """Whether a name stands there that some disk takes for this one: a person's own disk would not hold both."""
    folder = file.parent
    key = normalize("NFC", file.name).casefold()
    here = os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208
    return any(name != file.name and normalize("NFC", name).casefold() == key for name in here)


def _files(person: Vault, tree: RecordHash) -> dict[str, bytes]:
    return {path: read_entry(person.store, e) for path, e in walk(person.store, tree) if not e.is_dir}


def _lines(files: dict[str, bytes]) -> frozenset[str]:
    found = [line for content in files.values() for line in content.decode().splitlines()]
    return frozenset(line for line in found if line.startswith("line "))


def test_no_storm_loses_a_line_or_a_version_and_every_one_ends() -> None:
    run_state_machine_as_test(
        Storm,
        settings=settings(
            max_examples=_STORMS or 6,
            stateful_step_count=50 if _STORMS else 25,
            deadline=None,
            derandomize=not _STORMS,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_storm_may_take_the_last_file() -> None:
    """APP-12: nothing of that is committed by itself, so whoever commits, releases or updates means it, and says so."""
    storm = Storm()
    storm.begin()
    storm.edit(0, "a.txt", 1)
    storm.commit(0)
    storm.delete(0, "a.txt")
    storm.commit(0)
    storm.edit(1, "d", 0)
    storm.release(1)
    storm.delete(1, "d")
    storm.release(1)
    storm.edit(2, "d", 0)
    storm.commit(2)
    storm.delete(2, "d")
    storm.update(2)
    storm.teardown()
