"""The audit trail for people and other programs: exports, queries, counts (CYB-13, CYB-14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from vault.audit.entries import AuditEntry, read_audit
from vault.records.hashes import Verifier
from vault.records.model import Seal
from vault.records.tai import Tai
from vault.sexp import Sexp, Symbol, dumps

__all__ = ["export_sexp", "export_text", "select", "summary"]


def select(
    entries: Iterable[AuditEntry],
    *,
    actor: Verifier | None = None,
    verb: str | None = None,
    since: Tai | None = None,
    until: Tai | None = None,
) -> Iterator[AuditEntry]:
    """Yield the entries that match all that is given; `since` is included, `until` is not (CYB-14)."""
    for entry in entries:
        if (
            (actor is None or entry.actor == actor)
            and (verb is None or entry.verb == verb)
            and (since is None or entry.tai >= since)
            and (until is None or entry.tai < until)
        ):
            yield entry


def summary(entries: Iterable[AuditEntry]) -> tuple[tuple[str, str, int], ...]:
    """Return (actor's name, verb, how many), sorted by name and verb (CYB-14)."""
    counts = Counter((entry.name, entry.verb) for entry in entries)
    return tuple((name, verb, count) for (name, verb), count in sorted(counts.items()))


def export_sexp(entries: Iterable[Seal]) -> Iterator[str]:
    """Yield the text of `(audit-trail ...)` piece by piece: each entry with its id, signer and seal (CYB-13).

    Raises:
        AuditError: a record is no audit entry.
    """
    yield "(audit-trail"
    for seal in entries:
        item: Sexp = (
            Symbol("entry"),
            (Symbol("id"), seal.hash.text),
            (Symbol("tai"), seal.plex.tai.text),
            (Symbol("signature"), seal.signature.hex()),
            read_audit(seal).to_sexp(),
        )
        yield "\n" + dumps(item)
    yield ")\n"


def export_text(entries: Iterable[Seal]) -> Iterator[str]:
    """Yield a few lines for each entry, for people to read (CYB-13).

    Raises:
        AuditError: a record is no audit entry.
    """
    for seal in entries:
        entry = read_audit(seal)
        head = (str(entry.sequence), entry.timestamp, _line(entry.name), entry.verb, _line(entry.object))
        lines = ["  ".join(head)]
        lines += [f"    {_line(key)}: {_line(value)}" for key, value in entry.parameters]
        if entry.motivation:
            lines.append(f"    because: {_line(entry.motivation)}")
        if entry.relates_to:
            lines.append(f"    about: {', '.join(map(_line, entry.relates_to))}")
        lines.append(f"    {seal.hash}")
        yield "\n".join(lines) + "\n"


def _line(text: str) -> str:
    # A line end inside a text would pass for the next entry.
    return "".join(character if character.isprintable() else " " for character in text)
