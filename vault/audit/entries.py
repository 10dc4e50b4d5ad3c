"""The audit trail: what this vault did, as a chain of sealed entries (docs/formats.md section 6, CYB-9..12).

Each entry is a `lace/audit` record in the vault's private group. It names the Seal of the entry before it, so
nothing can be taken out or put in without breaking the chain, and its own id is the hash of its Seal. Here is
only form and proof; sealing and storing belong to the caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from unicodedata import normalize

from vault.errors import DataError
from vault.profile.groups import private_group
from vault.records.hashes import RecordHash, Verifier
from vault.records.model import Plex, Seal
from vault.records.tai import Tai
from vault.sexp import STRING, Sexp, SexpError, clean_text, loads, quoted, unquoted

__all__ = [
    "APP",
    "AuditEntry",
    "AuditError",
    "make_entry",
    "read_audit",
]

APP = "lace/audit"
_MAX_BODY_BYTES = 262_144  # far above what any action has to say
_TEXT_CHARACTERS = 4096  # of one text in an entry; a long message stands in its own record
_NONE = "none"
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z")
_NUMBER = r"[1-9][0-9]{0,18}"
_VERB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")


class AuditError(DataError):
    """A record that does not have the form of an audit entry."""

    code = "bad-audit"
    exit_code = 42
    hint = "Run: lace audit verify - it shows where the trail breaks."


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that was done (CYB-9).

    Args:
        sequence: its number, from 1.
        timestamp: ISO 8601 in UTC, ending in `Z`; for display only.
        tai: the `TAI` of the record.
        parent: Seal of the entry before; None for the first.
        actor: whose key did it; also the signer.
        name: what the actor calls itself.
        verb: what was done: a standard verb such as `seal-commit` (CYB-12), or another lower-case word with `-`.
        object: what it was done to.
        parameters: (key, value) pairs, in order.
        motivation: why; may be empty.
        relates_to: names or hashes of what it belongs to.
        language: BCP 47 tag of the motivation.
        lace: version of the program.

    Raises:
        AuditError: a part does not have its form.
    """

    sequence: int
    timestamp: str
    tai: Tai
    parent: RecordHash | None
    actor: Verifier
    name: str
    verb: str
    object: str
    parameters: tuple[tuple[str, str], ...] = ()
    motivation: str = ""
    relates_to: tuple[str, ...] = ()
    language: str = "en"
    lace: str = ""
    _body: bytes = field(default=b"", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.sequence < 2**63 or (self.parent is None) != (self.sequence == 1):
            raise AuditError("An audit entry is numbered from 1, and each but the first has a parent.")
        if self.parent is not None and self.parent.kind != "S":
            raise AuditError("The parent of an audit entry is a Seal.")
        for what, form, text in (
            ("time", _TIMESTAMP, self.timestamp),
            ("verb", _VERB, self.verb),
            ("language", _LANGUAGE, self.language),
        ):
            if form.fullmatch(text) is None or len(text) > 64:
                raise AuditError(f"{text[:64]!r} is not a {what} for an audit entry.")
        if len(self.body()) > _MAX_BODY_BYTES:
            raise AuditError(f"An audit entry has at most {_MAX_BODY_BYTES} bytes.")

    def body(self) -> bytes:
        """Return the S-expression of the record's body: one line and its LF.

        Raises:
            AuditError: a text holds a character that cannot be written; `make_entry` replaces those.
        """
        if not self._body:
            try:
                made = self._text().encode()
            except SexpError as error:
                raise AuditError(f"An audit entry cannot be written: {error}") from error
            object.__setattr__(self, "_body", made)
        return self._body

    def to_sexp(self) -> Sexp:
        """Return the entry as an S-expression."""
        return loads(self.body().decode(), _MAX_BODY_BYTES)

    def _text(self) -> str:
        """Write the S-expression that docs/formats.md section 6 has; as values it would take three times as long.

        What has a form of its own, as a hash, holds nothing that needs an escape.
        """
        parent = _NONE if self.parent is None else f'"{self.parent.text}"'
        parameters = "".join([f" ({quoted(key)} {quoted(value)})" for key, value in self.parameters])
        relates_to = "".join([f" {quoted(text)}" for text in self.relates_to])
        return (
            f'(audit (sequence {self.sequence}) (timestamp "{self.timestamp}") (parent {parent})'
            f' (actor (principal "{self.actor.text}") (name {quoted(self.name)}))'
            f' (action (verb "{self.verb}") (object {quoted(self.object)}) (parameters{parameters}))'
            f" (context (motivation {quoted(self.motivation)}) (relates-to{relates_to})"
            f' (language "{self.language}")) (environment (lace {quoted(self.lace)})))\n'
        )

    def to_plex(self) -> Plex:
        """Return the record, to be sealed by the actor's key.

        Raises:
            RecordError: a header does not fit its line.
        """
        extras = [("Verb", self.verb)]
        if self.parent is not None:
            extras.append(("+Link", f"parent {self.parent.text}"))
        return Plex.build(
            group=private_group(self.actor),
            app=APP,
            name=str(self.sequence),
            tai=self.tai,
            extras=extras,
            data=self.body(),
        )


def make_entry(
    previous: Seal | tuple[int, RecordHash] | None,
    *,
    tai: Tai,
    actor: Verifier,
    name: str,
    verb: str,
    object: str,  # noqa: A002 - the word of CYB-9
    parameters: Iterable[tuple[str, str]] = (),
    motivation: str = "",
    relates_to: Iterable[str] = (),
    lace: str = "",
) -> AuditEntry:
    """Return the entry that follows `previous`, or the one of that number and hash, dated by `tai`; None begins.

    Texts are brought to NFC, cut after 4,096 characters, and rid of characters that would do harm on a
    terminal (they become U+FFFD), so that whatever a peer sent can be written down (CYB-11).

    Args:
        previous: what it follows.
        tai: when it was done.
        actor: the node that did it.
        name: of that node's person.
        verb: what was done, as in CYB-10.
        object: what it was done to.
        parameters: more of it, by key.
        motivation: why, in the person's words.
        relates_to: hashes of records it is about.
        lace: the version of the program.

    Raises:
        AuditError: the previous Seal is no audit entry, or a part has not its form.
    """
    if isinstance(previous, Seal):
        previous = (_number_of(previous), previous.hash)
    return AuditEntry(
        sequence=1 if previous is None else previous[0] + 1,
        timestamp=tai.to_utc_iso(),
        tai=tai,
        parent=None if previous is None else previous[1],
        actor=actor,
        name=_clean(name),
        verb=verb,
        object=_clean(object),
        parameters=tuple((_clean(key), _clean(value)) for key, value in parameters),
        motivation=_clean(motivation),
        relates_to=tuple(_clean(text) for text in relates_to),
        language="en",
        lace=_clean(lace),
    )


def _number_of(seal: Seal) -> int:
    """Return the number of an entry of this vault's own, whose body was judged when it was written."""
    if seal.plex.app != APP or re.fullmatch(_NUMBER, seal.plex.name) is None:
        raise AuditError(f"{seal.hash} is not an audit entry.")
    return int(seal.plex.name)


def read_audit(seal: Seal) -> AuditEntry:
    """Return what an audit record says; its headers, body and signer must agree to the byte.

    Raises:
        AuditError: it is no audit entry, or one that contradicts itself.
    """
    plex = seal.plex
    if plex.app != APP:
        raise AuditError(f"{seal.hash} is not an audit entry.")
    try:
        text = plex.blob.data.decode("utf-8")
        entry = _from_text(text, plex.tai)
        agrees = entry.actor == seal.signer and entry.to_plex().payload == plex.payload
    except (DataError, ValueError, TypeError) as error:
        raise AuditError(f"The audit entry {seal.hash} cannot be read.") from error
    if not agrees:
        raise AuditError(f"The audit entry {seal.hash} contradicts itself.")
    return entry


def _from_text(text: str, tai: Tai) -> AuditEntry:
    """Return what a text says that has the form of `AuditEntry._text`, but for the sense of its values.

    Other words, order or spaces are never written, and whoever asks compares each byte. Parsed as any S-expression, an
    entry would take five times as long, and a check reads all of a trail.
    """
    found = _form().fullmatch(text) if len(text) <= _MAX_BODY_BYTES else None
    if found is None:
        raise AuditError("An audit entry has another form.")
    sequence, timestamp, parent, principal, name, verb, target, parameters, motivation, relates_to, language, lace = (
        found.groups()
    )
    texts = list(map(unquoted, _string().findall(parameters)))
    return AuditEntry(
        sequence=int(sequence),
        timestamp=unquoted(timestamp),
        tai=tai,
        parent=None if parent == _NONE else RecordHash.parse(unquoted(parent)),
        actor=Verifier.parse(unquoted(principal)),
        name=unquoted(name),
        verb=unquoted(verb),
        object=unquoted(target),
        parameters=tuple(zip(texts[::2], texts[1::2], strict=True)),
        motivation=unquoted(motivation),
        relates_to=tuple(map(unquoted, _string().findall(relates_to))),
        language=unquoted(language),
        lace=unquoted(lace),
    )


@cache
def _string() -> re.Pattern[str]:
    return re.compile(STRING)


@cache
def _form() -> re.Pattern[str]:
    """Return what an entry's text matches, with a group for each value; who only writes needs it never."""
    text = f"({STRING})"
    return re.compile(
        rf"\(audit \(sequence ({_NUMBER})\) \(timestamp {text}\) \(parent ({_NONE}|{STRING})\)"
        rf" \(actor \(principal {text}\) \(name {text}\)\)"
        rf" \(action \(verb {text}\) \(object {text}\) \(parameters((?: \({STRING} {STRING}\))*+)\)\)"
        rf" \(context \(motivation {text}\) \(relates-to((?: {STRING})*+)\) \(language {text}\)\)"
        rf" \(environment \(lace {text}\)\)\)\n"
    )


def _clean(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        text = normalize("NFC", clean_text(text))
    return text if len(text) <= _TEXT_CHARACTERS else text[: _TEXT_CHARACTERS - 1] + "…"
