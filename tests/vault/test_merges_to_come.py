"""Random days of friends who release at once, and one who lets go of old files: no merge to come lacks any of them."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lazy.address import resolve
from lazy.folder.undo import undo
from lazy.folder.update import update
from lazy.places.adding import add_place
from lazy.resolving.resolve import resolve_prefer
from lazy.sync import sync
from tests.vault.coming import bases_to_come, missing_of
from tests.vault.vaults import gathered, write
from vault.content.keeping import Keep, LetGo, fetch, set_keep
from vault.content.prune import prune
from vault.errors import CallerError
from vault.folder.work import commit
from vault.fsck.check import check
from vault.names import Version
from vault.releasing import release
from vault.vault import Vault

SEEDS = int(os.environ.get("LACE_MODEL_EXAMPLES", "2"))
STEPS = int(os.environ.get("LACE_MODEL_STEPS", "40"))

_TEXTS = ("one.txt", "two.txt", "three.txt")
_LINES = 8
_WEIGHTS = {
    "edit": 14, "film": 4, "commit": 4, "release": 12, "sync": 20, "update": 20, "prune": 10, "undo": 2, "round": 12,
}  # fmt: skip
_FETCHES = 12  # times that a merge may ask for what was let go, each time for another release


class Days:
    """Friends and what they do, by a seed.

    Args:
        root: an empty directory.
        seed: of all choices.
        names: of alice's friends.
    """

    def __init__(self, root: Path, seed: int, names: tuple[str, ...]) -> None:
        self._chance = random.Random(seed)
        self._number = 1
        self.people = gathered(root, *names)
        self.alice = self.people[0]
        for name in _TEXTS:
            write(self.alice, name, "".join(f"{name} {number}\n" for number in range(_LINES)))
        release(self.alice)
        self._meet()
        for friend in self.people[1:]:
            update(friend)
        add_place(self.alice, "box", str(root / "box"), cwd=root)  # where she alone keeps copies
        set_keep(self.alice, "main", Keep("", 1))
        self.looked = 0  # bases
        self.gone = 0  # files

    def close(self) -> None:
        """Close all vaults."""
        for vault in self.people:
            vault.close()

    def act(self) -> None:
        """Let somebody do something; what is refused, as a release of nothing, changes nothing."""
        acts: dict[str, Callable[[Vault], object]] = {
            "edit": self._edit,
            "film": self._film,
            "commit": lambda vault: commit(vault, "kept to myself"),
            "release": self._release,
            "sync": lambda vault: sync(vault, ["stick"]),
            "update": self._update,
            "prune": lambda _vault: self._let_go(),
            "undo": undo,
            "round": lambda _vault: self._round(),
        }
        (act,) = self._chance.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
        with suppress(CallerError):
            acts[act](self._chance.choice(self.people))

    def _meet(self) -> None:
        for vault in (*self.people, *self.people):
            sync(vault, ["stick"])

    def _edit(self, vault: Vault) -> None:
        file = vault.folder / self._chance.choice(_TEXTS)
        if not file.exists():  # an undo took it
            return
        lines = file.read_text().splitlines(keepends=True)
        at = self.people.index(vault) if self._chance.random() < 0.7 else self._chance.randrange(len(lines))
        self._number += 1
        lines[min(at, len(lines) - 1)] = f"{vault.name} {self._number}\n"
        file.write_text("".join(lines))

    def _film(self, vault: Vault) -> None:
        (vault.folder / f"film-{self._chance.randrange(2)}.bin").write_bytes(self._chance.randbytes(3000))

    def _release(self, vault: Vault) -> None:
        self._number += 1
        release(vault, Version(self._number, self.people.index(vault), 0))

    def _update(self, vault: Vault) -> None:
        conflict = self._updated(vault)
        if conflict and self._chance.random() < 0.7:
            resolve_prefer(vault, conflict, self._chance.choice(self.people).name)

    def _updated(self, vault: Vault) -> str:
        """Update, and fetch what a line needs that nobody here knew of; return the conflict that it comes to."""
        for _ in range(_FETCHES):
            try:
                found = update(vault).conflict
            except LetGo as error:
                assert vault is self.alice
                where = error.hint.split("lace fetch ")[1].split(" ")[0]
                assert fetch(vault, resolve(vault, where).tree, "")
                sync(vault, ["box"])
            else:
                return found.id if found is not None else ""
        raise AssertionError("what a merge asks for does not come back")

    def _round(self) -> None:
        """Some or all release, once or more often, before they know of the others'; most of them merge."""
        for vault in self._chance.sample(self.people, self._chance.randint(1, len(self.people))):
            for _ in range(self._chance.choice([1, 3])):
                self._edit(vault)
                self._release(vault)
        self._meet()
        if self._chance.random() < 0.5:
            self._let_go()
        for vault in self.people:
            if self._chance.random() < 0.7:
                self._update(vault)

    def _let_go(self) -> None:
        """Let alice prune, and prove that she can make every merge to come as before."""
        sync(self.alice, ["box"])
        before = bases_to_come(self.alice)
        keep = self._chance.choice([1, 1, 3])
        for _ in range(2):
            self.gone += prune(self.alice, keep=keep).files
            sync(self.alice, ["box"])  # which makes copies of what lacks one
        self.looked += len(before)
        assert missing_of(self.alice, before) == []


def test_no_merge_to_come_lacks_what_was_let_go(tmp_path: Path) -> None:
    """CLAY-73, CLAY-76, CLAY-79: of one base or several that criss-cross, and whoever merges whichever of them."""
    looked = gone = 0
    for seed in range(SEEDS):
        root = tmp_path / str(seed)
        root.mkdir()
        days = Days(root, seed, ("bob", "cara", "dave")[: 2 + seed % 2])
        for _ in range(STEPS):
            days.act()
        assert check(days.alice).ok
        days.close()
        looked, gone = looked + days.looked, gone + days.gone
    assert looked > 0
    assert gone > 0
