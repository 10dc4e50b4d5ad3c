"""Verbs that need no vault: help, the table of errors, where settings lie."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any

from lace_tui.cli.context import Context
from lace_tui.cli.naming import find_verb, sub_verbs, unknown
from lace_tui.cli.output import Answer, Paint
from lace_tui.cli.verb import FAMILIES, Verb
from lace_tui.cli.verbs import VERBS
from lace_tui.errors import EXIT_BUG, EXIT_CODES
from lace_tui.words.inert import inert

__all__ = ["configure", "error_table", "run"]

_OPTIONS = (
    ("-C DIR", "work in that folder instead of this one"),
    ("--json", "answer with one JSON object on standard output"),
    ("-q, --quiet", "say nothing when all went well, unless you asked a question"),
    ("-v, --verbose", "say more"),
    ("-h, --help", "explain lace, or a verb when written after one"),
    ("--version", "print the version"),
)
_INTRO = """\
lace shares folders of files with friends, offline first.

usage: lace [-C DIR] [--json] [-q] [-v] VERB ..."""
_BRACKETS = re.compile(r"\[[^][]*\]")
_JOINED = "\N{NO-BREAK SPACE}"
_OUR_PACKAGES = ("vault", "transports", "lazy", "spark_export", "lace_tui.cli")


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    if verb == "help":
        parser.add_argument("words", nargs="*", metavar="VERB", help="the verb to explain")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    if context.verb == "errors":
        return _errors(context)
    if context.verb == "config path":
        return _config_path(context)
    return _help(context, args.words)


# Help


def _help(context: Context, words: list[str]) -> Answer:
    if not words:
        return Answer(
            {"verbs": [_verb_data(verb) for verb in VERBS], "options": dict(_OPTIONS)},
            lambda paint: _overview(VERBS, paint, context.columns(), intro=True),
        )
    verb, _ = find_verb(words)
    if verb is not None:
        from lace_tui.cli.frame import build_parser  # the frame imports verbs, not the reverse

        parser = build_parser(verb, context.columns())
        parser.usage, parser.description = _fitting(verb, context.columns())
        usage = parser.format_help()
        return Answer({**_verb_data(verb), "help": usage}, usage)
    if subs := sub_verbs(words[0]):
        return Answer(
            {"verbs": [_verb_data(sub) for sub in subs]},
            lambda paint: _overview(tuple(subs), paint, context.columns(), intro=False),
        )
    raise unknown(words)


def _fitting(verb: Verb, columns: int) -> tuple[str, str]:
    """Return how a verb is used and what it does, wrapped: argparse takes both as they are given.

    What stands in the same brackets stays together.
    """
    import textwrap

    width = min(columns, 100)
    lead = "usage: "  # of argparse's own
    whole = _BRACKETS.sub(lambda found: found[0].replace(" ", _JOINED), f"{lead}lace {verb.name} {verb.arguments}")
    indent = " " * len(lead)
    lines = textwrap.wrap(whole, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    used = "\n".join(lines).replace(_JOINED, " ").removeprefix(lead)
    return used, textwrap.fill(verb.sentence, width)


def _verb_data(verb: Verb) -> dict[str, Any]:
    return {
        "name": verb.name,
        "family": verb.family,
        "arguments": verb.arguments,
        "sentence": verb.sentence,
        "json": verb.json,
        "examples": list(verb.examples),
    }


def _overview(verbs: tuple[Verb, ...], paint: Paint, columns: int, *, intro: bool) -> str:
    blocks = [_INTRO] if intro else []
    for family in FAMILIES:
        rows = [(verb.name, verb.sentence) for verb in verbs if verb.family == family]
        if rows:
            blocks.append(paint.strong(family) + "\n" + _columns(rows, columns))
    if intro:
        blocks.append(paint.strong("Everywhere") + "\n" + _columns(list(_OPTIONS), columns))
        blocks.append("Explain one verb with: lace help VERB")
    return "\n\n".join(blocks)


def _columns(rows: list[tuple[str, str]], columns: int) -> str:
    """Return two columns, the second wrapped; one below the other where the terminal is narrow."""
    import textwrap

    left = max(len(name) for name, _ in rows) + 4
    width = max(20, min(columns, 100) - 1)
    lines = []
    for name, sentence in rows:
        if width - left < 24:
            lines.append("  " + name)
            lines += textwrap.wrap(sentence, width, initial_indent="      ", subsequent_indent="      ")
        else:
            wrapped = textwrap.wrap(sentence, width - left) or [""]
            lines.append(f"  {name}".ljust(left) + wrapped[0])
            lines += [" " * left + more for more in wrapped[1:]]
    return "\n".join(lines)


# Errors


def _errors(context: Context) -> Answer:
    table = error_table()
    codes = [{"exit_code": code, "meaning": meaning} for code, meaning in EXIT_CODES]

    def text(paint: Paint) -> str:
        parts = [paint.strong("Exit codes"), _columns([*EXIT_CODES], context.columns()), ""]
        parts.append(paint.strong("Errors (exit code, code, meaning, way out)"))
        for row in table:
            parts.append(f"{row['exit_code']:>4}  {row['code']}: {row['meaning']}")
            if row["hint"]:
                parts.append(f"      {paint.faint(row['hint'])}")
        return "\n".join(parts)

    return Answer({"errors": table, "exit_codes": codes}, text)


def error_table() -> list[dict[str, Any]]:
    """Return every error lace can end with, sorted by exit code and code."""
    from vault.errors import all_errors

    for package in _OUR_PACKAGES:
        _import_all(package)
    rows = [
        {
            "code": cls.code,
            "exit_code": cls.exit_code,
            "meaning": " ".join((cls.__doc__ or "").split("\n\n")[0].split()),
            "hint": cls.hint,
        }
        for cls in all_errors()
        if cls.__module__.split(".")[0] in {name.split(".")[0] for name in _OUR_PACKAGES}
    ]
    rows.append(
        {
            "code": "bug",
            "exit_code": EXIT_BUG,
            "meaning": "lace itself has a fault.",
            "hint": "Please report it, with what the same command prints after adding -v.",
        }
    )
    return sorted(rows, key=lambda row: (row["exit_code"], row["code"]))


def _import_all(package: str) -> None:
    from importlib import import_module

    for name in _module_names(package):
        try:
            import_module(name)
        except ImportError:  # an optional extra is not installed: its errors cannot happen here either
            continue


def _module_names(package: str) -> Iterator[str]:
    import pkgutil
    from importlib import import_module

    yield package
    for info in pkgutil.walk_packages(import_module(package).__path__, package + "."):
        if not info.name.endswith("__main__"):
            yield info.name


# Places


def _config_path(context: Context) -> Answer:
    folder = context.find_vault()
    vault = folder / ".vault" / "config.toml" if folder else None
    user, keys = context.config_root / "config.toml", context.data_root / "keys"
    rows = [
        ("vault", str(vault) if vault else "no vault here or above"),
        ("user", str(user)),
        ("keys", str(keys)),
    ]
    return Answer(
        {"vault": vault, "user": user, "keys": keys},
        "\n".join(f"{name:<6}{inert(path)}" for name, path in rows),
    )
