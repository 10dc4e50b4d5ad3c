"""What `fsck` checks of the vault itself: who it is, its mark, and the tables that no record carries (APP-13)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Final

from vault.errors import DataError, LaceError
from vault.files import Unreadable
from vault.identity.keys import KeyMissing
from vault.identity.mark import MarkState, MarkVerdict, require_writable
from vault.identity.mark import check as check_mark
from vault.notes.own import FOUNDING_PLEX, NAME, NODE
from vault.profile.groups import group_id
from vault.records import RecordHash, Seal, Tai, Verifier, b64a, parse_record
from vault.records.hashes import is_verifier
from vault.store import Store, guard
from vault.store.schema import DERIVED_TABLES
from vault.store.values import retype
from vault.vault import Vault

__all__ = ["identity", "key_problems", "settle_conflicts", "settle_local", "settle_mark", "way_out"]

_WITH_LINES = "SELECT CAST(bytes AS BLOB) FROM body WHERE kind = 'S' AND instr(substr(bytes, 1, 1024), ?)"
# Local tables that the next sync, scan or status fills again from what it finds.
_FOUND_AGAIN: Final = frozenset(
    {
        "beacon",
        "dircache",
        "last_sync",
        "live",
        "met",
        "peer_vector",
        "published",
        "quarantine",
        "refused",
        "request",
        "seen",
    }
)
# For the others: where a person sees what stands there now.
_LOOK: Final = {
    "meta": "lace status says who this vault is, lace config list how it behaves, lace desk permits who may read",
    "peer": "lace peers shows the names",
    "place": "lace places shows the places",
    "invitation": "invite again whom you invited and who has not joined",
    "checkout": "lace status shows what the folder stands on; lace checkout sets it",
    "desk": "lace desks shows the folders",
    "conflict": "lace conflicts shows what is open",
    "tomb": "lace fetch asks again for what a prune let go of",
    "unfinished": "lace status shows whether the folder is whole",
}


def way_out(table: str) -> str:
    """Return what a repair does about a local table, and what the person should look at; `guard` watches no others."""
    if table in _FOUND_AGAIN:
        return "A repair empties it, and the next sync fills it again."
    return f"Nobody else has it: look it through, and a repair takes it as it is ({_LOOK[table]})."


def settle_local(store: Store) -> list[str]:
    """Empty local tables that rotted and are found again, and take the others as they are; inside a transaction.

    What watches them is made anew first: a trigger that rotted would refuse every write.

    Returns:
        The names of those that rotted.
    """
    rotten = guard.changed(store.db)
    guard.guard(store.db, DERIVED_TABLES)
    for table in rotten:
        if table in _FOUND_AGAIN:
            store.run(f"DELETE FROM {table}")  # noqa: S608 - our own table names
    retype(store.db, tuple(sorted(_FOUND_AGAIN | _LOOK.keys())))
    for name, node in store.rows("SELECT name, node FROM peer"):
        if not is_verifier(str(node)):  # whose name it was is not known any more
            store.run("DELETE FROM peer WHERE name = ?", name)
    return rotten


def settle_conflicts(store: Store, rotten: Collection[str]) -> None:
    """Drop what cannot be read of conflicts that were met; inside a transaction, after the views were made anew.

    A conflict of heads that is no more noted is noted again by the next update that meets it.

    Args:
        store: the vault's.
        rotten: names of the tables that are not as they were written: otherwise a head may be one that is lost.
    """
    for conflict, version, detected, heads in store.rows("SELECT id, version, detected, heads FROM conflict"):
        words = str(heads).split()
        are_read = bool(words) and all(_is_head(store, word, must_be_here="conflict" in rotten) for word in words)
        if not version and not are_read:
            store.run("DELETE FROM conflict WHERE id = ?", conflict)
            continue
        try:
            Tai.parse(str(detected or Tai.ZERO.text))
        except DataError:  # no time can be read off it, and none is told then
            store.run("UPDATE conflict SET detected = '' WHERE id = ?", conflict)


def _is_head(store: Store, text: str, *, must_be_here: bool) -> bool:
    try:
        RecordHash.parse(text)
    except DataError:
        return False
    return not must_be_here or bool(store.rows("SELECT 1 FROM commits WHERE hash = ?", text))


def identity(vault: Vault) -> Iterator[tuple[str, str, str]]:
    """Yield name, code and sentence for what the store says about itself and its records, or the mark, contradict.

    Where the mark says that the vault may not sign, code and sentence are of the error that refuses that.
    """
    for name, problem in _contradicted(vault):
        if isinstance(problem, LaceError):
            yield name, problem.code, f"{problem.message} {problem.hint}"
        else:
            yield name, "wrong-setting", f"The vault's own {name} is wrong: {problem}."


def _contradicted(vault: Vault) -> Iterator[tuple[str, str | LaceError]]:
    store = vault.store
    try:
        node = Verifier.parse(store.note(NODE))
    except DataError:
        yield "node", "it is not a verifier"
        return
    has_sealed = _has_sealed(vault, node)
    if not has_sealed:
        yield "node", f"nothing here is sealed by {node}"
    elif (labels := _labels(vault, node)) and store.note(NAME) not in labels:
        yield "name", "no card of this node carries it"
    yield from _founding(vault)
    try:
        state = vault.mark.load()
    except Unreadable:
        return  # it is named with the key
    except LaceError as error:
        yield "instance", f"{error.message.rstrip('.')}; {error.hint.rstrip('.')}"
        return
    except ValueError as error:
        yield "instance", str(error).rstrip(".")
        return
    if state is None and has_sealed:
        if any(code in {KeyMissing.code, Unreadable.code} for _, code, _ in key_problems(vault)):
            return  # the mark is where the key is, which is out of reach and named as such
        yield (
            "instance",
            "no mark beside the key belongs to it; it is a copy, or this was changed: run lace sync, then lace adopt",
        )
    elif state is not None:
        yield from _mark(vault, node, state)


def settle_mark(vault: Vault) -> None:
    """Write the mark anew where it agrees with the log about the newest entry and not about the one before.

    Raises:
        DiskFull, NotWritable: it cannot be written.
    """
    try:
        state = vault.mark.load()
        node = vault.node
        rows = vault.store.rows("SELECT seq, plex FROM log WHERE node = ? ORDER BY seq DESC, hash LIMIT 2", node.text)
    except (LaceError, ValueError):
        return  # it is named, with what to do
    digests = {int(seq): bytes(plex) for seq, plex in rows}
    top = max(digests, default=0)
    if state is None or state.is_pending or state.intent_prev == digests.get(top - 1) or top - 1 not in digests:
        return
    verdict = check_mark(state, top, digests.get(top), vault.around.machine, node=node)
    if verdict is MarkVerdict.IN_STEP:
        vault.mark.begin(state.machine, state.node, top, digests[top], digests[top - 1])


def key_problems(vault: Vault) -> Iterator[tuple[str, str, str]]:
    """Yield name, code and sentence for what is wrong with the key's file, and for a mark beside it out of reach.

    The box of a passphrase stays closed.
    """
    try:
        node = Verifier.parse(vault.store.note(NODE))
    except DataError:
        return  # which key it is, is what is wrong, and named
    try:
        vault.keys_here.is_whole(node)
    except LaceError as error:
        yield vault.keys_here.path(node).name, error.code, f"{error.message} {error.hint}"
    try:
        vault.mark.load()
    except Unreadable as error:
        yield vault.mark.path.name, error.code, f"{error.message} {error.hint}"
    except (LaceError, ValueError):
        return  # what it says is wrong: `identity` names that


def _mark(vault: Vault, node: Verifier, state: MarkState) -> Iterator[tuple[str, str | LaceError]]:
    """Yield what the mark beside the key and this node's log say differently (APP-13)."""
    try:
        rows = vault.store.rows("SELECT seq, plex FROM log WHERE node = ? ORDER BY seq, hash DESC", node.text)
    except LaceError:
        return  # the view of the log is gone: it is named as such
    digests: dict[int, bytes] = {}
    for seq, plex in rows:  # of a fork the mark is right about its own side, whichever comes first
        if digests.get(int(seq), b"") not in {state.done_digest, state.intent_digest}:
            digests[int(seq)] = bytes(plex)
    top = max(digests, default=0)
    verdict = check_mark(
        state, top, digests.get(top), vault.around.machine, node=node, digest_at_done=digests.get(state.done_seq)
    )
    if not verdict.may_write:
        try:
            require_writable(verdict, top, state)
        except LaceError as error:
            yield "mark", error
    elif state.intent_prev != digests.get(state.intent_seq - 1) and state.intent_seq - 1 in digests:
        yield "mark", "the entry before its newest is another one here"


def _has_sealed(vault: Vault, node: Verifier) -> bool:
    """Tell whether the node sealed anything that is here."""
    return any(seal.signer == node for seal in _sealed(vault, f"\nSigned-By: {node.text}\n"))


def _labels(vault: Vault, node: Verifier) -> set[str]:
    """Return the labels of the node's cards."""
    cards = [seal.plex for seal in _sealed(vault, "\nApp: lace/node\n") if seal.signer == node]
    return {card.first("Label") or "" for card in cards if card.app == "lace/node"}


def _sealed(vault: Vault, lines: str) -> Iterator[Seal]:
    """Yield the sealed records in whose head some lines stand, read from the bodies."""
    for (stored,) in vault.store.db.execute(_WITH_LINES, (lines.encode(),)):
        with suppress(DataError):
            record = parse_record(bytes(stored), verify=False)
            if isinstance(record, Seal):
                yield record


def _founding(vault: Vault) -> Iterator[tuple[str, str]]:
    store = vault.store
    name = vault.group.partition("/")[0]
    try:
        group = group_id(name, b64a.decode(store.note(FOUNDING_PLEX)))
    except DataError:
        yield "founding_plex", "it is not a digest"
        return
    if vault.group != group:
        yield "group", f"that of the founding record is {group}"
    text = vault.founding
    if text is None:
        if any(vault.is_founding(record) for record in _sealed(vault, "\nApp: lace/founding\n")):
            yield "founding", "it is empty although the founding record is here"
        return
    try:
        digest = RecordHash.parse(text).digest
        row = store.db.execute("SELECT CAST(bytes AS BLOB) FROM body WHERE digest = ?", (digest,)).fetchone()
        record = parse_record(row[0], verify=False) if row else None
    except DataError:
        yield "founding", "it names no record that is whole"
        return
    if not isinstance(record, Seal) or not vault.is_founding(record):
        yield "founding", f"{text} is not the founding record"
    elif record.plex.group != name:
        yield "group", f"the founding record names the group {record.plex.group}"
