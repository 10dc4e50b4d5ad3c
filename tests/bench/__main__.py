"""Every benchmark, or the named ones: `python -m tests.bench [--quick] [NAME...]`.

A benchmark is a module beside this one with `figures(quick)`. Figures of another machine or day mean nothing; the
ratios, taken in one run, do.
"""

from __future__ import annotations

import argparse
import compileall
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

import tests.bench
from tests.bench.table import Figure, rows


def main() -> int:
    names = sorted(module.name for module in pkgutil.iter_modules(tests.bench.__path__))
    modules = {name: importlib.import_module(f"tests.bench.{name}") for name in names if name != "__main__"}
    known = {name: module for name, module in modules.items() if hasattr(module, "figures")}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, one repeat: does it run at all")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    args = parser.parse_args()
    if strangers := [name for name in args.names if name not in known]:
        parser.error(f"no benchmark is called {strangers[0]}; there are {', '.join(known)}")
    _compile()
    missed = 0

    def all_figures() -> Iterator[Figure]:
        nonlocal missed
        for name in args.names or known:
            for figure in known[name].figures(args.quick):
                missed += figure.kept is False
                yield figure

    for line in rows(all_figures()):
        print(line, flush=True)
    print(f"{missed} promises missed" if missed else "every promise kept")
    return 1 if missed else 0


def _compile() -> None:
    """Write the bytecode that an installed program has: a tree just checked out has none, or that of older code."""
    root = Path(__file__).parents[2]
    for package in sorted(path.parent for path in root.glob("*/__init__.py")):
        if package.name != "tests":
            compileall.compile_dir(package, quiet=2)


if __name__ == "__main__":
    sys.exit(main())
