"""Which requirements does no test name yet: `python -m tests.untested [GROUP...] [--all]`.

A test names a requirement by having its id (REC-24, or a range such as REC-46..51) in its file under `tests/`. The ids
stand in `docs/requirements.ids`, each with how binding it is. GROUP is the part before the dash; `--all` lists
extended requirements too. The exit code is 1 while any is listed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Requirement", "named_in", "requirements", "untested"]

_HERE = Path(__file__).parent
_LIST = _HERE.parent / "docs" / "requirements.ids"
_NAMED = re.compile(r"\b([A-Z]{3,4})-(\d+)(?:(?:\.\.(?:[A-Z]{3,4}-)?|\s+to\s+[A-Z]{3,4}-)(\d+))?")
_KINDS = {".py", ".toml", ".feature"}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of the list.

    Args:
        group: such as REC.
        number: within the group.
        level: MUST, SHOULD, MAY or FACT.
        weight: core or extended.
    """

    group: str
    number: int
    level: str
    weight: str

    def __str__(self) -> str:
        return f"{self.group}-{self.number} [{self.level}, {self.weight}]"


def requirements() -> list[Requirement]:
    """Return all requirements in the order of the list."""
    found = []
    for line in _LIST.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, level, weight = line.split(" ")
            group, _, number = name.partition("-")
            found.append(Requirement(group, int(number), level, weight))
    return found


def named_in(texts: Iterable[str]) -> set[tuple[str, int]]:
    """Return the ids that texts name, ranges unfolded."""
    named: set[tuple[str, int]] = set()
    for text in texts:
        for group, low, high in _NAMED.findall(text):
            named.update((group, number) for number in range(int(low), int(high or low) + 1))
    return named


def untested(groups: Iterable[str] = (), *, extended: bool = False) -> list[Requirement]:
    """Return the requirements of these groups (of all, if none is given) that no test names."""
    wanted = set(groups)
    files = [path for path in _HERE.rglob("*") if path.suffix in _KINDS and path != Path(__file__)]
    named = named_in(path.read_text(encoding="utf-8", errors="replace") for path in files)
    return [
        one
        for one in requirements()
        if (not wanted or one.group in wanted)
        and (extended or one.weight == "core")
        and (one.group, one.number) not in named
    ]


def main() -> int:
    """Print them, and how many of each group are named."""
    known = requirements()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP")
    parser.add_argument("--all", action="store_true", help="extended requirements too")
    args = parser.parse_args()
    if strangers := set(args.groups) - {one.group for one in known}:
        parser.error(f"no requirement is of the group {min(strangers)}")
    missing = untested(args.groups, extended=args.all)
    lines = [str(one) for one in missing]
    lacking = {(one.group, one.number) for one in untested(args.groups, extended=True)}
    sums = []
    for group in args.groups or sorted({one.group for one in known}):
        total = [one.number for one in known if one.group == group]
        sums.append(f"{group} {sum((group, number) not in lacking for number in total)}/{len(total)}")
    sys.stdout.write("\n".join([*lines, "  ".join(sums)]) + "\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
