"""The house rules: floors, fast start, one error table, modules a person can read (APP-14)."""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from lace_tui import __version__
from lace_tui.cli.verb import FAMILIES, Verb
from lace_tui.cli.verbs import VERBS
from lace_tui.verbs.about import error_table
from tests.modules import Module, module_at
from tests.people import ROOT, Person
from vault.errors import (
    CallerError,
    Cancelled,
    DataError,
    EnvironmentFault,
    LaceError,
    PeerError,
    PlaceError,
    all_errors,
)

PACKAGES = ("lace_tui", "lazy", "spark_export", "transports", "vault")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
LONGEST = 600  # lines
SCREEN = 50  # lines of a function, with its docstring
PARAMETERS = 10  # of a function; what is passed on together is a value that has no name yet
UNMAPPED = 11  # modules in a folder that need no order
RANGES = {
    CallerError: range(2, 3),
    EnvironmentFault: range(10, 20),
    PlaceError: range(20, 30),
    PeerError: range(30, 40),
    DataError: range(40, 50),
    Cancelled: range(130, 131),
}
HEAVY = {"textual", "rich", "git", "pyspark", "pyarrow", "starlette", "uvicorn", "nacl", "sqlite3", "platformdirs"}
# The work places of whoever builds lace; split so that this file does not match itself.
MACHINE_PATHS = re.compile("|".join(["/" + "work/", "/" + "root/", "/tmp/" + "venv", "/home/" + "[a-z]+/"]))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:  # an unpacked archive instead of a checkout
        return [*MODULES, *(ROOT / "tests").rglob("*.py"), *ROOT.glob("*.*"), *(ROOT / "docs").rglob("*.md")]
    return [ROOT / path for path in done.stdout.decode().split("\0") if path]


def test_floors_hold() -> None:
    """Imports go downward only (architecture, section 3)."""
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@pytest.mark.parametrize("words", [["--version"], ["help"], ["--json", "config", "path"], ["nonsense"]])
def test_a_command_loads_only_what_it_needs(alice: Person, words: list[str]) -> None:
    """A fast start: nothing heavy is imported before something needs it."""
    code = (
        "import json, sys\nfrom lace_tui.__main__ import main\n"
        f"main({words!r})\nsys.stderr.write('\\n' + json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=alice.folder,
        env={**alice.variables, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(json.loads(done.stderr.splitlines()[-1]))
    assert not {module.split(".")[0] for module in loaded} & HEAVY
    families = {verb.module for verb in VERBS} - {"lace_tui.verbs.about"}
    assert not families & loaded


@pytest.mark.xdist_group("modules")
def test_the_core_runs_without_the_terminal() -> None:
    """No floor below imports Textual or the command line, not even late."""
    for path in MODULES:
        if path.is_relative_to(ROOT / "lace_tui"):
            continue
        for node in module_at(path).imports:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            assert not {module.split(".")[0] for module in names} & {"textual", "lace_tui"}, name(path)


def test_the_terminal_writes_no_shared_folder_itself() -> None:
    """APP-14: what a checkout does to a folder is an act of the floor below; the terminal has its words alone."""
    writing = {"apply_plan", "checkout_tree", "plan_folder", "set_checkout", "begin_look", "note_brought"}
    for path in (path for path in MODULES if path.is_relative_to(ROOT / "lace_tui")):
        for node in module_at(path).imports:
            assert not {alias.name for alias in node.names} & writing, name(path)


def test_the_terminal_asks_the_store_nothing_in_sql() -> None:
    """What a screen or a verb shows is read by the floors below, each question once (architecture, section 3)."""
    asks = re.compile(r"\bstore\.(?:rows|run)\(")
    above = [path for path in MODULES if path.is_relative_to(ROOT / "lace_tui")]
    assert not [name(path) for path in above if asks.search(path.read_text("utf-8"))]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_module_is_readable(path: Path) -> None:
    """Each module says what it is and what it offers, and can be read in one sitting."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a docstring is missing"
    assert len(text.splitlines()) <= LONGEST
    if len(tree.body) == 1:  # a package's door that only says what lies behind it
        return
    assigned = {
        target.id
        for node in tree.body
        for target in (node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)])
        if isinstance(target, ast.Name)
    }
    assert "__all__" in assigned or assigned == {"__version__"}, "__all__ is missing"


@pytest.mark.xdist_group("modules")
def test_functions_fit_a_screen_and_take_what_one_can_hold() -> None:
    """A function that is longer is two, and one that takes more lacks a value."""
    wrong = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                taken = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                count = len([one for one in taken if one not in {"self", "cls"}])
                if lines > SCREEN or count > PARAMETERS:
                    wrong.append(f"{name(path)} {node.name}: {lines} lines, {count} parameters")
    assert not wrong


@pytest.mark.parametrize("door", [path for path in MODULES if path.name == "__init__.py"], ids=name)
def test_a_folder_says_where_each_of_its_modules_belongs(door: Path) -> None:
    """Many modules in one folder have an order, in its docstring: each is named there, once, and nothing else is."""
    told = ast.get_docstring(ast.parse(door.read_text("utf-8"))) or ""
    named = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`[^|]*) \|", told, re.MULTILINE)))
    inside = [path for path in door.parent.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]
    modules = [path.stem for path in inside if not path.stem.startswith("__")]
    if named or len(modules) > UNMAPPED:
        assert sorted(named) == sorted(modules)


def test_every_name_offered_exists() -> None:
    """`__all__` never names what is not there, and imports never fail."""
    code = (
        "import importlib, json, sys\nbad = []\n"
        "for name in json.loads(sys.argv[1]):\n"
        "    module = importlib.import_module(name)\n"
        "    bad += [f'{name}.{x}' for x in getattr(module, '__all__', ()) if not hasattr(module, x)]\n"
        "print(json.dumps(bad))\n"
    )
    names = [dotted(path) for path in MODULES if path.name != "__main__.py"]
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(names)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


@pytest.mark.xdist_group("modules")
def test_modules_take_from_each_other_only_what_is_offered() -> None:
    """`__all__` is the whole of what a module offers, each name once."""
    looked = {dotted(path): module_at(path) for path in MODULES}
    offered = {name: module.offered for name, module in looked.items()}
    wrong = [f"{name} offers {one} twice" for name, names in offered.items() for one in names if names.count(one) > 1]
    for name, module in looked.items():
        for node in module.imports:
            if isinstance(node, ast.ImportFrom) and offered.get(node.module or ""):
                named = {alias.name for alias in node.names} - set(offered[str(node.module)])
                wrong += [f"{name} takes {node.module}.{one}" for one in named if f"{node.module}.{one}" not in looked]
    assert not wrong


# Modules that offer what stands elsewhere, and why.
_DOORS = {
    "lace_tui.model.deeds": "loaded behind the first frame, with all that it hands on",
}


@pytest.mark.xdist_group("modules")
def test_a_name_is_offered_where_it_stands() -> None:
    """Else the same thing is taken from two modules, and a reader looks for the difference; packages are doors."""
    handed = set()
    for path in MODULES:
        module = module_at(path)
        taken = {alias.asname or alias.name for node in module.imports for alias in node.names}
        if path.name != "__init__.py" and taken.intersection(module.offered):
            handed.add(dotted(path))
    assert handed == set(_DOORS)


@pytest.mark.xdist_group("modules")
def test_nobody_offers_a_function_or_constant_that_nobody_takes() -> None:
    """What only its own module uses has a name that says so; a type is offered with what it is a part of."""
    texts = {path: path.read_text("utf-8") for path in [*MODULES, *(ROOT / "tests").rglob("*.py")]}
    found = Counter(word for text in texts.values() for word in set(re.findall(r"\w+", text)))
    offered = {path: module_at(path).offered for path in MODULES}
    kinds = re.compile(r"[A-Z]\w*[a-z]\w*")
    assert not [
        f"{name(path)}: {one}"
        for path, names in offered.items()
        for one in names
        if found[one] == 1 and not kinds.fullmatch(one)
    ]


# Who may write a table of the store that others read.
_WRITERS = {
    "hole": {"vault/store/holes.py"},
    "published": {"lazy/places/published.py"},
    "request": {"lazy/belonging/requests.py"},
    "tomb": {"vault/content/keeping.py", "vault/content/prune.py", "vault/store/sharing.py"},
}


@pytest.mark.parametrize("table", _WRITERS)
def test_a_table_is_written_by_its_owners_alone(table: str) -> None:
    """What is known of a table in memory holds only while nobody writes it behind its owner's back."""
    writes = re.compile(rf"\b(?:INTO|DELETE FROM|UPDATE(?: OR [A-Z]+)?) {table}\b")
    assert {name(path) for path in MODULES if writes.search(path.read_text("utf-8"))} == _WRITERS[table]


# What no command runs, and why it stays.
_FOR_OTHERS = {
    "lazy.interlace.documents.open_machine.OpenMachine": "docs/decisions.md 27",
    "lazy.interlace.documents.opened.OpenExchange": "docs/decisions.md 27",
    "lazy.interlace.documents.operations.operation_text": "docs/decisions.md 27",
    "lazy.interlace.documents.stream.StreamLink": "docs/decisions.md 27",
    "spark_export.datasource.DefaultSource": "pyspark_lace.py hands it to Spark",
    "vault.records.thin.rebuild": "docs/decisions.md 29",
    "vault.records.trailer.from_trailer": "docs/decisions.md 29",
    "vault.records.trailer.to_trailer": "docs/decisions.md 29",
    "vault.rules.incremental.Incremental": "docs/decisions.md 29",
}
# Parameters that no command gives, and why they stay.
_FOR_TESTS = {
    ("app_of", "here"): "a test draws one picture in a place of its own",
    ("app_of", "taste"): "a test draws one picture in colours of its own",
    ("compile_module", "profile"): "a fuzzer compiles programs over predicates of its own",
    ("iter_records", "max_data"): "the reader of records is for programs of others too",
    ("iter_records", "verify"): "the reader of records is for programs of others too",
    ("main", "only"): "a test makes one picture",
    ("rebuild", "verify"): "the reader of records is for programs of others too",
    ("spark_session", "settings"): "what a cluster wants is said by who begins the session",
}


@pytest.mark.xdist_group("modules")
def test_what_is_offered_is_used_by_the_program() -> None:
    """What only tests take is no part of lace: it goes, or is listed above with the decision that keeps it."""
    looked = {dotted(path): module_at(path) for path in MODULES}

    def origin(pair: tuple[str, str]) -> str:
        while (door := looked.get(pair[0])) is not None and pair[1] in door.passed:
            pair = door.passed[pair[1]]
        return ".".join(pair)

    used = {origin(pair) for module in looked.values() for pair in module.taken}
    used |= {f"{where}.{one}" for where, module in looked.items() for one in module.reads}
    used |= {f"{verb.module}.{one}" for verb in VERBS for one in ("configure", "run")}  # asked for by these names
    doors = {dotted(path) for path in MODULES if path.name == "__init__.py"}
    offered = {f"{where}.{one}" for where, module in looked.items() if where not in doors for one in module.offered}
    assert offered - used == set(_FOR_OTHERS)


_IN_ORDER = {"Action", "Verb"}  # rows of the tables of actions and verbs, read as columns


@pytest.mark.xdist_group("modules")
def test_a_wide_value_is_made_with_names() -> None:
    """Two numbers that stand beside each other could be swapped, and no type would say so."""
    looked = {path: module_at(path) for path in MODULES}
    kinds = {one for module in looked.values() for one in module.classes} - _IN_ORDER
    assert not [f"{name(path)}:{at}" for path, module in looked.items() for one, at in module.wide if one in kinds]


@pytest.mark.xdist_group("modules")
def test_what_may_be_given_is_given_somewhere() -> None:
    """A parameter that only tests give is a second way that no command takes."""
    looked = [module_at(path) for path in MODULES]
    given = {pair for module in looked for pair in module.given}
    left = set()
    for (function, parameter), place in (pair for module in looked for pair in module.defaults.items()):
        ways = {parameter, "**", *((place, "*") if place else ())}
        if not any((function, way) in given for way in ways):
            left.add((function, parameter))
    assert left == set(_FOR_TESTS)


# What gives a wall clock, the environment or randomness; a clock that only runs on (to wait, and to tell silence from
# patience) decides nothing and may be read anywhere.
_OUTSIDE = {
    "datetime": {"now", "today", "utcnow"},
    "os": {"environ", "getenv", "getlogin", "urandom", "uname"},
    "random": set(),
    "secrets": set(),
    "time": {"localtime", "time", "time_ns"},
    "uuid": set(),
}


def _from_outside(module: Module) -> set[str]:
    found = {f"{name}.{attribute}" for name, attribute in module.attributes if attribute in _OUTSIDE.get(name, ())}
    for node in module.imports:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in _OUTSIDE and not _OUTSIDE[alias.name]}
        elif node.module in _OUTSIDE:
            taken = {alias.name for alias in node.names}
            found |= taken & _OUTSIDE[node.module] if _OUTSIDE[node.module] else {node.module}
    return found


@pytest.mark.xdist_group("modules")
def test_the_floors_below_read_no_clock_environment_or_randomness() -> None:
    """`Surroundings` brings them in (docs/house.md); so whatever is decided below can be decided again."""
    below = [path for path in MODULES if not path.is_relative_to(ROOT / "lace_tui")]
    found = {name(path): _from_outside(module_at(path)) for path in below}
    assert not {path: taken for path, taken in found.items() if taken}


def test_error_codes_are_unique_and_exit_codes_tell_the_blame() -> None:
    """APP-14: the table that `lace errors` prints is sound."""
    error_table()  # imports every module that has errors
    classes = [cls for cls in all_errors() if cls.__module__.split(".")[0] in PACKAGES]
    assert len(classes) > 20
    again = {code for code, count in Counter(cls.code for cls in classes).items() if count > 1}
    assert not again
    for cls in classes:
        families = [family for family in RANGES if issubclass(cls, family)]
        assert len(families) == 1, f"{cls.__name__} belongs to {families}"
        assert cls.exit_code in RANGES[families[0]], cls.__name__
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", cls.code), cls.__name__
        assert cls.hint, f"{cls.__name__} has no hint"
        commands = re.findall(r"(?:[Rr]un|with|[-:]) lace ([a-z]+)", cls.hint)
        assert set(commands) <= {verb.name.split()[0] for verb in VERBS}, f"{cls.__name__} sends to no verb"
        assert (cls.__doc__ or "").strip(), f"{cls.__name__} has no docstring"


def test_only_the_base_stands_above_the_families() -> None:
    error_table()
    direct = {cls for cls in LaceError.__subclasses__() if cls.__module__.split(".")[0] in PACKAGES}
    assert direct == set(RANGES)


@pytest.mark.xdist_group("modules")
def test_every_verb_has_its_module_and_speaks_in_sentences() -> None:
    names = [verb.name for verb in VERBS]
    assert len(names) == len(set(names))
    for verb in VERBS:
        path = ROOT / (verb.module.replace(".", "/") + ".py")
        assert {"configure", "run"} <= module_at(path).functions, verb.module
        assert verb.family in FAMILIES
        assert verb.json in {"object", "lines", "bytes"}
        assert verb.sentence[0].isupper(), verb.name
        assert verb.sentence.endswith("."), verb.name
        assert len(verb.name.split()) in {1, 2}
        for example in verb.examples:
            assert example.startswith("lace ")
            assert set(verb.name.split()) <= set(example.split())


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_argument_stands_in_the_synopsis_of_its_verb_and_is_explained(verb: Verb) -> None:
    """`help` and the table of commands show what can be typed, in the same words."""
    parser = argparse.ArgumentParser(add_help=False)
    importlib.import_module(verb.module).configure(parser, verb.name)
    for action in parser._actions:
        if action.help == argparse.SUPPRESS:
            continue
        assert action.help, action
        assert all(word in verb.arguments for word in str(action.metavar or "").split()), action
        if action.option_strings:
            assert any(re.search(f"{option}(?![a-z-])", verb.arguments) for option in action.option_strings), action


def test_no_tracked_file_names_a_builders_machine() -> None:
    found = []
    for path in tracked():
        if path.suffix in {".png", ".svg"} or not path.is_file():
            continue
        match = MACHINE_PATHS.search(path.read_text("utf-8", "replace"))
        if match:
            found.append(f"{name(path)}: {match[0]}")
    assert not found


def test_every_file_and_module_that_the_house_names_is_there() -> None:
    """Whoever looks for something by docs/house.md finds it, also after it moved."""
    text = (ROOT / "docs" / "house.md").read_text("utf-8")
    files = set(re.findall(rf"`((?:{'|'.join(PACKAGES)})/[a-z_0-9./]*)`", text))
    dotted = set(re.findall(rf"`((?:{'|'.join(PACKAGES)})(?:\.[A-Za-z_0-9]+)+)`", text))
    assert len(files) > 30
    assert len(dotted) > 5
    assert sorted(path for path in files if not (ROOT / path).exists()) == []
    assert sorted(one for one in dotted if not _is_there(one)) == []


# `Class.member` or `module.Class.member(...)`, as a docstring or a comment names it
_MEMBER = re.compile(r"`(?:[a-z_]\w*\.)*([A-Z]\w*)\.(\w+)(?:\([^`]*\))?`")


@pytest.mark.xdist_group("modules")
def test_every_member_of_a_class_that_a_module_names_is_there() -> None:
    """Whoever reads of one finds it, also after it was renamed or moved; APP-14."""
    classes: dict[str, set[str]] = {}
    for path in MODULES:
        for kind, members in module_at(path).classes.items():
            classes.setdefault(kind, set()).update(members)
    named = [(path, *pair) for path in MODULES for pair in _MEMBER.findall(path.read_text("utf-8"))]
    named = [(path, kind, member) for path, kind, member in named if kind in classes]
    assert len(named) > 30
    gone = [one for one in named if one[2] not in _with_bases(one[1], classes)]
    assert not [f"{name(path)}: {kind}.{member}" for path, kind, member in gone if not _inherits(kind, member)]


_ARGUMENTS = re.compile(r"^Args:\n((?:(?: .*)?\n)+)", re.MULTILINE)


@pytest.mark.xdist_group("modules")
def test_every_parameter_that_a_docstring_explains_is_there() -> None:
    """Whoever reads what a value or a function takes can give it, also after it was renamed; APP-14."""
    explained = 0
    wrong = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            told = _ARGUMENTS.search((ast.get_docstring(node) or "") + "\n")
            taken = _taken(node)
            if told is None or not taken:
                continue
            named = re.findall(r"^    (\w[\w, ]*):", told[1], re.MULTILINE)
            explained += len(named)
            wrong += [f"{name(path)} {node.name}: {one}" for one in ", ".join(named).split(", ") if one not in taken]
    assert explained > 1000
    assert not wrong


def _taken(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> set[str]:
    """Return what a function, or a class of this body, is made with; nothing where a base says it."""
    if isinstance(node, ast.ClassDef):
        made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
        if made:
            return _taken(made[0])
        fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and "ClassVar" not in ast.dump(one)]
        return {one.target.id for one in fields if isinstance(one.target, ast.Name)}
    more = [one for one in (node.args.vararg, node.args.kwarg) if one is not None]
    return {one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *more)}


def _with_bases(kind: str, classes: Mapping[str, set[str]]) -> set[str]:
    """Return what a class has, and what those of its bases have that are ours."""
    found = {kind}
    while more := set().union(*(classes.get(one, ()) for one in found)) - found:
        found |= more
    return found


def _inherits(kind: str, member: str) -> bool:
    """Tell whether a class has a member from a base that is not ours."""
    places = [dotted(path) for path in MODULES if kind in module_at(path).classes]
    return any(hasattr(getattr(importlib.import_module(place), kind, None), member) for place in places)


def _is_there(dotted: str) -> bool:
    """Tell whether this is a module, or names in one, such as `lazy.sync.sync` or `vault.x.Class.method`."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        with suppress(ModuleNotFoundError):
            found: object = importlib.import_module(".".join(parts[:count]))
            for name_ in parts[count:]:
                found = getattr(found, name_, None)
            return found is not None
    return False


def test_version_is_said_once() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == __version__
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.xdist_group("modules")
def test_nobody_installs_what_nothing_imports() -> None:
    """Each library that comes with lace is needed by some module of it."""
    import tomllib

    imported = set()
    for path in MODULES:
        for node in module_at(path).imports:
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            else:
                imported.add((node.module or "").split(".")[0])
    installed = packages_distributions()
    used = {found.lower().replace("_", "-") for module in imported for found in installed.get(module, ())}
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert {re.split("[^A-Za-z0-9-]", one, maxsplit=1)[0] for one in wanted} <= used


@pytest.mark.slow
def test_the_wheel_holds_the_whole_program(tmp_path: Path, alice: Person) -> None:
    """What pip installs runs without the checkout."""
    wheels, site = tmp_path / "wheels", tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(ROOT)]
    subprocess.run(build, check=True, cwd=tmp_path)
    (wheel,) = wheels.iterdir()
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(wheel)], check=True, cwd=tmp_path)
    for path in MODULES:
        assert (site / path.relative_to(ROOT)).is_file()
    code = "import lace_tui, runpy; print(lace_tui.__file__); runpy.run_module('lace_tui', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code, "--version"],
        cwd=tmp_path,
        env={**alice.variables, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    where, said = done.stdout.splitlines()
    assert Path(where).is_relative_to(site)
    assert said == f"lace {__version__}"
