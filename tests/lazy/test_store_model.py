"""The revision store beside a plain dict of dicts: three people, random days.

Proves CLAY-2, CLAY-5..8, CLAY-11, CLAY-42, CLAY-58 and CLAY-67 over commits, labels, releases, updates and reads.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from lazy.address import case_number
from lazy.folder.update import update
from lazy.sync import sync
from tests.vault.vaults import befriend, found
from vault.folder.work import commit
from vault.names import Version
from vault.releasing import NothingToRelease, release
from vault.revisions.cases import Label
from vault.revisions.graph import ancestors
from vault.revisions.history import commit_info, line_head, revision
from vault.revisions.labels import LabelTaken, set_label
from vault.revisions.nodes import NodeReader
from vault.revisions.reads import Care, Outcome, read_line
from vault.vault import Vault

NAMES = ("alice", "bob", "cara")
STEPS = int(os.environ.get("LACE_MODEL_STEPS", "25"))
EXAMPLES = int(os.environ.get("LACE_MODEL_EXAMPLES", "8"))
Files = dict[str, str]


class StoreModel(RuleBasedStateMachine):
    """Everybody writes below a folder of their own, so that updates merge by themselves and the model stays simple."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.vaults: dict[str, Vault] = {}
        self.folder: dict[str, Files] = {name: {} for name in NAMES}
        self.lines: dict[str, list[Files]] = {name: [] for name in NAMES}
        self.labels: dict[str, dict[str, int]] = {name: {} for name in NAMES}
        self.version = 0

    @initialize()
    def begin(self) -> None:
        alice = self.vaults["alice"] = found(self.root)
        for name in NAMES[1:]:
            self.vaults[name] = befriend(self.root, alice, name)
        for _ in range(2):
            for name in NAMES:
                sync(self.vaults[name], ["stick"])
        for vault in self.vaults.values():
            assert line_head(vault.store, vault.node.text, "main") is None, "CLAY-42: main is there, and empty"

    def teardown(self) -> None:
        for vault in self.vaults.values():
            vault.close()
        shutil.rmtree(self.root)

    def _noted(self, name: str) -> None:
        """Note in the model that a commit was made, if one was."""
        vault = self.vaults[name]
        head = line_head(vault.store, vault.node.text, "main")
        if head is not None and head.number > len(self.lines[name]):
            assert head.number == len(self.lines[name]) + 1, "CLAY-6: numbers have no gaps"
            self.lines[name].append(dict(self.folder[name]))

    @rule(name=st.sampled_from(NAMES), file=st.sampled_from("abc"), text=st.sampled_from(["", "1\n", "2\n", "3\n"]))
    def edit(self, name: str, file: str, text: str) -> None:
        path = self.vaults[name].folder / name / file
        path.parent.mkdir(exist_ok=True)
        if text:
            path.write_text(text)
            self.folder[name][f"{name}/{file}"] = text
        else:
            path.unlink(missing_ok=True)
            self.folder[name].pop(f"{name}/{file}", None)

    @rule(name=st.sampled_from(NAMES))
    def keep(self, name: str) -> None:
        commit(self.vaults[name], "kept")
        self._noted(name)

    @rule(name=st.sampled_from(NAMES))
    def give(self, name: str) -> None:
        self.version += 1
        with suppress(NothingToRelease):
            release(self.vaults[name], Version(1, self.version, 0), "given")
        self._noted(name)

    @rule(name=st.sampled_from(NAMES), label=st.sampled_from(["x", "y", "z"]))
    def name_it(self, name: str, label: str) -> None:
        if not self.lines[name]:
            return
        try:
            made = set_label(self.vaults[name], label, "main")
        except LabelTaken:
            assert label in self.labels[name], "CLAY-9"
        else:
            assert made.revision == len(self.lines[name])
            assert made.already == (self.labels[name].get(label) == made.revision)
            assert made.already or label not in self.labels[name]
            self.labels[name][label] = made.revision

    @rule(name=st.sampled_from(NAMES))
    def meet(self, name: str) -> None:
        sync(self.vaults[name], ["stick"])

    @rule(name=st.sampled_from(NAMES))
    def follow(self, name: str) -> None:
        vault = self.vaults[name]
        commit(vault, "before")
        self._noted(name)
        done = update(vault)
        assert done.conflict is None, "nobody writes where another does"
        self.folder[name] = {
            str(path.relative_to(vault.folder)): path.read_text()
            for path in sorted(vault.folder.rglob("*"))
            if path.is_file() and ".vault" not in path.parts
        }
        self._noted(name)

    @precondition(lambda self: any(self.lines.values()))
    @rule(reader=st.sampled_from(NAMES), owner=st.sampled_from(NAMES), data=st.data())
    def read(self, reader: str, owner: str, data: st.DataObject) -> None:
        """CLAY-58: any revision of any line, by whoever has it, is what the model says."""
        vault, node = self.vaults[reader], self.vaults[owner].node.text
        number = data.draw(st.integers(0, len(self.lines[owner]) + 1))
        answer = read_line(vault.store, node, "main", number, Care.FULL)
        if number == 0:
            assert answer.value["children"] == {}
        elif number > len(self.lines[owner]):
            assert answer.outcome is Outcome.NOT_YET
        elif answer.outcome is Outcome.VALUE:
            self._same(vault, node, number, self.lines[owner][number - 1])
        else:
            assert reader != owner, "my own revisions are always here"

    def _same(self, vault: Vault, node: str, number: int, files: Files) -> None:
        head = revision(vault.store, node, "main", number)
        assert head is not None
        at = NodeReader(vault.store).at(commit_info(vault.store, head.commit).tree, "")
        found = {path: vault.store.content(child.content) for path, child in at.paths() if child.content}
        assert found == {path: text.encode() for path, text in files.items()}

    @rule(reader=st.sampled_from(NAMES), owner=st.sampled_from(NAMES), label=st.sampled_from(["x", "y", "z"]))
    def read_label(self, reader: str, owner: str, label: str) -> None:
        number = case_number(self.vaults[reader], self.vaults[owner].node.text, "main", Label(label))
        if reader == owner:
            assert number == self.labels[owner].get(label)
        else:
            assert number in {None, self.labels[owner].get(label)}

    @invariant()
    def lines_are_ordered(self) -> None:
        """CLAY-6, CLAY-7, CLAY-8, CLAY-11: no gap, each number above the one before in ancestry and in date."""
        for name, vault in self.vaults.items():
            heads = [revision(vault.store, vault.node.text, "main", n + 1) for n in range(len(self.lines[name]))]
            infos = [commit_info(vault.store, head.commit) for head in heads if head is not None]
            assert len(infos) == len(heads)
            for before, after in pairwise(infos):
                assert before.hash.text in ancestors(vault.store, after.hash)
                assert before.tai <= after.tai
                assert all(commit_info(vault.store, parent).tai < after.tai for parent in after.parents)
            if infos and not any(infos[0].parents):
                assert infos[0].parents == ()


def test_the_store_agrees_with_a_dict_of_dicts() -> None:
    """Longer by LACE_MODEL_EXAMPLES and LACE_MODEL_STEPS."""
    run_state_machine_as_test(
        StoreModel,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
