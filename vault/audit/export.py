"""The audit trail for people and other programs (CYB-13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vault.audit.entries import read_audit
from vault.records.model import Seal
from vault.sexp import Sexp, Symbol, dumps

__all__ = ["export_sexp", "export_text"]


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
