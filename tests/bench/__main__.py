"""Every benchmark, or the named ones: `python -m tests.bench [--quick] [NAME...]`.

A benchmark is a module beside this one with `figures(quick)`. Figures of another machine or day mean nothing; the
ratios, taken in one run, do.
"""

from __future__ import annotations

import argparse
import compileall
import gc
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import tests.bench
from lace_tui.__main__ import GARBAGE
from tests.bench.table import Figure, rows
from vault.held_memory import hold_freed


def main() -> int:
    known, lacking = _benchmarks()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, one repeat: does it run at all")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    args = parser.parse_args()
    for name in args.names:
        if name in lacking:
            parser.error(f"{name} needs {lacking[name]}, which python3 bootstrap.py test brings")
        if name not in known:
            parser.error(f"no benchmark is called {name}; there are {', '.join(known)}")
    _compile()
    gc.set_threshold(*GARBAGE)  # as a command and the app have it: what runs in this process is measured as theirs
    hold_freed()
    missed = 0

    def all_figures() -> Iterator[Figure]:
        nonlocal missed
        for name in args.names or known:
            for figure in known[name].figures(args.quick):
                missed += figure.kept is False
                yield figure

    for line in rows(all_figures()):
        print(line, flush=True)
    for name, package in lacking.items() if not args.names else ():
        print(f"{name} was left out: it needs {package}, which python3 bootstrap.py test brings")
    print(f"{missed} promises missed" if missed else "every promise kept")
    return 1 if missed else 0


def _benchmarks() -> tuple[dict[str, ModuleType], dict[str, str]]:
    """Return the benchmarks by name, and those that need a package which is not here, with its name."""
    known: dict[str, ModuleType] = {}
    lacking: dict[str, str] = {}
    for name in sorted(module.name for module in pkgutil.iter_modules(tests.bench.__path__)):
        if name == "__main__":
            continue
        try:
            module = importlib.import_module(f"tests.bench.{name}")
        except ModuleNotFoundError as error:  # what only the tests need is not there after a demo
            lacking[name] = str(error.name)
            continue
        if hasattr(module, "figures"):
            known[name] = module
    return known, lacking


def _compile() -> None:
    """Write the bytecode that an installed program has: a tree just checked out has none, or that of older code."""
    root = Path(__file__).parents[2]
    for package in sorted(path.parent for path in root.glob("*/__init__.py")):
        if package.name != "tests":
            compileall.compile_dir(package, quiet=2)


if __name__ == "__main__":
    sys.exit(main())
