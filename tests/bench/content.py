"""Large content beside git, in one run: `python -m tests.bench.content [--gib N] [--repeat N]`.

Prints wall and CPU seconds of both and their ratio; only the ratio means anything on another machine. `--gib` also
takes one file of that size in, releases it and writes it out again, and prints the peak memory.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.faults.circle import around
from vault import work
from vault.vault import Vault

_MIB = 1 << 20


class Cost(NamedTuple):
    """Seconds by the wall, and of the processor."""

    wall: float
    cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--gib", type=float, default=0)
    parser.add_argument("--dir", type=Path, default=None, help="where to work; on a real disk")
    args = parser.parse_args()
    if args.gib:
        with tempfile.TemporaryDirectory(dir=args.dir) as root:
            _one_file(Path(root), round(args.gib * 1024))
        return
    pairs: dict[str, list[tuple[Cost, Cost]]] = {}
    for number in range(args.repeat):
        with tempfile.TemporaryDirectory(dir=args.dir) as root:
            for name, mine, git in _round(Path(root), number):
                pairs.setdefault(name, []).append((mine, git))
    for name, found in pairs.items():
        mine, git = (_median(side) for side in zip(*found, strict=True))
        print(
            f"{name}: lace {mine.wall:.2f} s ({mine.cpu:.2f} CPU), git {git.wall:.2f} s ({git.cpu:.2f} CPU),"
            f" ratio {mine.wall / git.wall:.3f} ({mine.cpu / git.cpu:.3f} CPU)"
        )


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(*(statistics.median(values) for values in zip(*costs, strict=True)))


def _round(root: Path, seed: int) -> list[tuple[str, Cost, Cost]]:
    random_bytes = random.Random(seed).randbytes
    vault, repository = _begin(root)
    for number in range(64):
        _both(vault, repository, f"part-{number:02}", random_bytes(4 * _MIB))
    many = (_cost(lambda: work.commit(vault, "many")), _cost(lambda: _commit(repository)))
    large = bytearray(random_bytes(100 * _MIB))
    _both(vault, repository, "large", large)
    first = (_cost(lambda: work.commit(vault, "large")), _cost(lambda: _commit(repository)))
    before = _stored(vault), _size(repository / ".git")
    places = random.Random(seed + 1)
    for _ in range(64):
        at = places.randrange(len(large) - 16_384)
        large[at : at + 16_384] = random_bytes(16_384)
    _both(vault, repository, "large", large)
    second = (_cost(lambda: work.commit(vault, "changed")), _cost(lambda: _commit(repository)))
    after = _stored(vault), _size(repository / ".git")
    print(
        f"second version of 100 MiB, 1 % changed: lace stores {(after[0] - before[0]) / 1e6:.2f} MB of records,"
        f" git {(after[1] - before[1]) / 1e6:.2f} MB before a repack"
    )
    vault.close()
    return [("64 x 4 MiB", *many), ("100 MiB, first version", *first), ("100 MiB, second version", *second)]


def _begin(root: Path) -> tuple[Vault, Path]:
    vault = Vault.found(root / "alice" / "f", around(root, "alice"), name="alice", group="friends")
    repository = root / "git"
    repository.mkdir()
    _git(repository, "init", "-q")
    return vault, repository


def _both(vault: Vault, repository: Path, name: str, content: bytes | bytearray) -> None:
    for folder in (vault.folder, repository):
        with (folder / name).open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def _commit(repository: Path) -> None:
    _git(repository, "add", "-A")
    _git(repository, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "-m", "x")


def _git(repository: Path, *words: str) -> None:
    program = shutil.which("git")
    if program is None:
        sys.exit("git is not installed, so there is nothing to compare with.")
    subprocess.run([program, "-C", str(repository), *words], check=True)


def _cost(act: Callable[[], object]) -> Cost:
    cpu, wall = _cpu(), time.perf_counter()
    act()
    return Cost(time.perf_counter() - wall, _cpu() - cpu)


def _cpu() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _stored(vault: Vault) -> int:
    return int(vault.store.rows("SELECT sum(length(bytes)) FROM body")[0][0])


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _one_file(root: Path, mib: int) -> None:
    vault = Vault.found(root / "alice" / "f", around(root, "alice"), name="alice", group="friends")
    blocks = random.Random(mib)
    with (vault.folder / "large").open("wb") as file:
        for _ in range(mib):
            file.write(blocks.randbytes(_MIB))
    print(f"{mib} MiB of random bytes; at the start {_peak():.0f} MB of memory")
    print(f"commit {_cost(lambda: work.commit(vault, 'x')).wall:.1f} s, peak {_peak():.0f} MB")
    print(f"release {_cost(lambda: work.release(vault, None, 'x')).wall:.1f} s, peak {_peak():.0f} MB")
    standing = work.checkout_of(vault)
    if standing is None:
        sys.exit("Nothing was committed.")
    print(
        f"write out {_cost(lambda: work.export_tree(vault, standing.tree, root / 'out')).wall:.1f} s,"
        f" peak {_peak():.0f} MB"
    )
    vault.close()


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


if __name__ == "__main__":
    main()
