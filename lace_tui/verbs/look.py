"""`audit`, `fsck` and `config`: what was done here, whether everything is whole, and how lace behaves."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from lace_tui.acts.checking import Checked, checked, checked_lines, tell
from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer, Paint, times
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert
from vault.audit.chain import ChainBreak, ChainVerdict, Damaged, told
from vault.audit.entries import AuditEntry, read_audit
from vault.audit.export import export_sexp, export_text
from vault.audit.trail import as_it_lies, verify_trail
from vault.config import SETTINGS, Setting, Settings, value_text
from vault.errors import LaceError
from vault.fsck.report import BadThing
from vault.fsck.unopened import MendedFirst, mend_first
from vault.records import Seal, Tai
from vault.revisions.cases import BadCase, Date, parse_case
from vault.settings_file import save_settings
from vault.vault import Vault

__all__ = ["configure", "run"]

_WHAT = "list what was done, or prove that the trail is whole (list)"
_OVERRULED = "While sync-strategy is on-commit, friends get the content of each commit, whatever share is."
_SHOWN_BREAKS = 20  # of the audit trail


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    match verb:
        case "audit":
            what = ("list", "verify")
            parser.add_argument("what", nargs="?", choices=what, default="list", metavar="|".join(what), help=_WHAT)
            parser.add_argument("--sexp", action="store_true", help="list as S-expressions, with every signature")
            parser.add_argument("--verb", default="", metavar="V", help="only what was done by this verb")
            parser.add_argument("--actor", default="", metavar="NAME", help="only what this name or key did")
            parser.add_argument("--since", default="", metavar="DATE", help="not before this UTC date or moment")
            parser.add_argument("--until", default="", metavar="DATE", help="before this UTC date or moment")
            parser.add_argument("-n", "--last", type=int, metavar="K", help="only the last K entries (all)")
        case "fsck":
            parser.add_argument("--repair", action="store_true", help="make the views anew from the records")
        case "config get":
            parser.add_argument("key", metavar="KEY", help="a setting, as lace config list names it")
        case "config set":
            parser.add_argument("key", metavar="KEY", help="a setting, as lace config list names it")
            parser.add_argument("value", nargs="?", metavar="VALUE", help="its new value (the default)")


def run(context: Context, args: argparse.Namespace) -> Answer | int:
    """Do what the verb says."""
    match context.verb:
        case "fsck":
            return _fsck(context, repairing=args.repair)
        case "audit":
            if args.what == "verify":
                _refuse_part(args)
            with context.open_vault() as vault:
                return _verify(vault) if args.what == "verify" else _list(context, vault, args)
    with context.open_vault() as vault:
        match context.verb:
            case "config get":
                return _get(context, vault.settings, args.key)
            case "config set":
                return _set(vault, args.key, args.value)
            case _:
                return _settings(vault.settings)


# Audit


def _list(context: Context, vault: Vault, args: argparse.Namespace) -> Answer | int:
    """List the trail, or what matches of it; `audit verify` checks it, here it is shown as it lies (CYB-13, CYB-14)."""
    if args.last is not None and args.last < 1:
        raise BadArguments("lace audit -n: the number must be at least 1.")
    since, until = _moment(args.since), _moment(args.until)
    with vault.store.reading():
        everything = list(as_it_lies(vault))
    damaged = [entry for entry in everything if isinstance(entry, Damaged)]
    found = [
        seal
        for seal in everything
        if isinstance(seal, Seal)
        and (not args.verb or seal.plex.first("Verb") == args.verb)
        and (since is None or seal.plex.tai >= since)
        and (until is None or seal.plex.tai < until)
        and (not args.actor or args.actor in {seal.signer.text, read_audit(seal).name})
    ]
    found = found[-args.last :] if args.last else found
    if args.sexp and not context.json:
        _stream(context, export_sexp(found))
    for entry in damaged[:_SHOWN_BREAKS]:
        context.say(entry.text)
    if damaged:
        context.say("See what else is wrong, and what to do: lace audit verify")
    exit_code = 1 if damaged else 0
    if args.sexp and not context.json:
        return exit_code
    data = {
        "entries": [_entry(seal) for seal in found],
        "damaged": [{"sequence": entry.number, "record": entry.record} for entry in damaged],
    }
    return Answer(data, "\n".join(_lines(found)) or _none(args), exit_code=exit_code)


def _none(args: argparse.Namespace) -> str:
    """Return what to say where no entry is shown: none is there, or none is as was asked."""
    asked = [name for name in ("verb", "actor", "since", "until") if getattr(args, name)]
    if not asked:
        return "Nothing was done here."
    late = f" --until takes in what was done before {inert(args.until)} begins." if "until" in asked else ""
    return f"No entry fits {', '.join(f'--{name}' for name in asked)}.{late} See all with: lace audit"


def _moment(text: str) -> Tai | None:
    if not text:
        return None
    way = "Dates are UTC: 2026-05-01 or 2026-05-01T12:30"
    try:
        case = parse_case(text)
    except BadCase as error:
        raise BadArguments(f"{text!r} is not a date.", hint=way) from error
    if not isinstance(case, Date):
        raise BadArguments(f"{text!r} is not a date.", hint=way)
    return case.tai


def _stream(context: Context, pieces: Iterable[str]) -> None:
    for piece in pieces:
        context.write_bytes(piece.encode())


def _lines(found: Iterable[Seal]) -> Iterator[str]:
    for block in export_text(found):
        yield "\n".join(inert(line) for line in block.rstrip("\n").split("\n"))


def _entry(seal: Seal) -> dict[str, Any]:
    """Return one entry with everything CYB-9 names."""
    entry: AuditEntry = read_audit(seal)
    return {
        "id": seal.hash,
        "sequence": entry.sequence,
        "timestamp": entry.timestamp,
        **times(entry.tai),
        "parent": entry.parent,
        "actor": {"principal": entry.actor, "name": entry.name},
        "action": {"verb": entry.verb, "object": entry.object, "parameters": dict(entry.parameters)},
        "context": {
            "motivation": entry.motivation,
            "relates_to": entry.relates_to,
            "language": entry.language,
        },
        "environment": {"lace": entry.lace},
        "seal": seal.signature.hex(),
    }


def _refuse_part(args: argparse.Namespace) -> None:
    """Refuse what narrows the list: each entry is proven by the one before it, so no part is proven alone."""
    given = {
        "--sexp": args.sexp,
        "--verb": args.verb,
        "--actor": args.actor,
        "--since": args.since,
        "--until": args.until,
        "-n": args.last is not None,
    }
    for option in (name for name, is_given in given.items() if is_given):
        raise BadArguments(f"lace audit verify proves the whole trail: {option} goes with audit list.")


def _verify(vault: Vault) -> Answer:
    with vault.store.reading():
        verdict = verify_trail(vault)
    return Answer(
        {
            "ok": verdict.ok,
            "length": verdict.length,
            "first_break": None if verdict.first_break is None else _break(verdict.first_break),
            "last": verdict.last,
            "breaks": [_break(found) for found in verdict.breaks],
            "behind": verdict.behind,
        },
        lambda paint: _verdict_text(verdict, paint),
        exit_code=0 if verdict.ok else 1,
    )


def _break(found: ChainBreak) -> dict[str, Any]:
    return {"sequence": found.position, "record": found.record, "fault": found.fault, "missing": found.missing}


def _verdict_text(verdict: ChainVerdict, paint: Paint) -> str:
    if verdict.ok:
        return f"{paint.good('=')} {verdict.length} entries, each one sealed and chained to the one before."
    found = told(verdict.breaks)
    lines = [f"{paint.bad('! broken')} {text}" for _, text in found[:_SHOWN_BREAKS]]
    if len(found) > _SHOWN_BREAKS:
        lines.append(f"{paint.bad('! broken')} in {len(found) - _SHOWN_BREAKS} more places: --json has all")
    lines.append(
        f"Entries that fit: {verdict.length} before the first break, and {verdict.behind} behind it, sealed and chained"
        " to those before them as far as these are here."
    )
    return "\n".join([*lines, "What that means, and what to do: lace fsck"])


# Fsck


def _fsck(context: Context, *, repairing: bool) -> Answer:
    """Check or repair.

    Raises:
        StoreDamaged: the file cannot even be opened.
    """
    folder = context.find_vault()
    first = mend_first(folder, context.surroundings()) if folder is not None and repairing else MendedFirst()
    with context.watching() as watch:
        found = checked(lambda: context.open_vault(mending=True), watch, repairing=repairing, first=first)
    report = found.report
    data = {
        "ok": report.ok,
        "records": report.records,
        "bad": [_bad(thing) for thing in report.bad],
        "repaired": [_bad(thing) for thing in report.repaired],
        "damaged": list(found.aside),
        "notes": [_bad(thing) for thing in report.notes],
        "refused": found.refused,
    }

    def told() -> None:
        with suppress(LaceError), context.open_vault() as vault:
            tell(vault, found)

    return Answer(
        data,
        lambda paint: _fsck_text(found, paint),
        exit_code=0 if report.ok else 1,
        told=told,
    )


def _bad(thing: BadThing) -> dict[str, str]:
    return {"kind": thing.kind, "name": thing.name, "code": thing.code, "message": thing.message}


def _fsck_text(found: Checked, paint: Paint) -> str:
    tones = {"bad": paint.bad, "good": paint.good, "note": paint.faint}
    lines = [f"{tones[tone](head)} {inert(text)}" if head else text for tone, head, text in checked_lines(found)]
    if found.helps and not found.is_repair:
        lines.append("Next: lace fsck --repair")
    return "\n".join(lines)


# Config


def _get(context: Context, settings: Settings, key: str) -> Answer:
    value = settings.get(key)
    if settings.overruling(key):  # beside the value, which programs read
        context.say(_OVERRULED)
    return Answer(_setting(settings, SETTINGS[key]), value_text(value))


def _set(vault: Vault, key: str, text: str | None) -> Answer:
    with vault.lock.held():  # two settings set at once both stay
        settings = vault.settings
        settings = settings.unset(key) if text is None else settings.set(key, text)
        save_settings(vault, settings)
    told = f"{key} is {value_text(settings.get(key))} now."
    if key in {"share", "sync-strategy"} and settings.overruling("share"):
        told += f"\n{_OVERRULED}"
    return Answer(_setting(settings, SETTINGS[key]), told)


def _settings(settings: Settings) -> Answer:
    rows = [_setting(settings, setting) for setting in SETTINGS.values()]

    def text(paint: Paint) -> str:
        lines = []
        for setting in SETTINGS.values():
            own = "" if setting.key in settings.chosen else paint.faint(" (default)")
            lines.append(f"{setting.key} = {value_text(settings.get(setting.key))}{own}")
            if settings.overruling(setting.key):
                lines.append(f"    {_OVERRULED}")
            lines.append(f"    {setting.sentence} Takes {setting.allowed_text}.")
        return "\n".join(lines)

    return Answer({"settings": rows}, text)


def _setting(settings: Settings, setting: Setting) -> dict[str, Any]:
    return {
        "key": setting.key,
        "value": settings.get(setting.key),
        "default": setting.default,
        "chosen": setting.key in settings.chosen,
        "overruled_by": settings.overruling(setting.key) or None,
        "allowed": setting.allowed_text,
        "sentence": setting.sentence,
    }
