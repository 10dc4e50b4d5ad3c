"""Which names of a folder a scan takes, and what it says of those that it leaves (CLAY-27, CLAY-71, APP-12).

A name may be one that the rules keep out, that no tree holds, that some disks take for another's, or that leads to a
desk or vault of its own. What is left out becomes a `Problem`, or is noted as unknown, so that it never turns into a
deletion for friends.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple
from unicodedata import normalize

from vault.desks.basetree import BaseDirectory
from vault.desks.causes import Cause
from vault.desks.chunks import MissingObject
from vault.desks.diff import Change
from vault.desks.folder import FileChanging, read_file, signature
from vault.desks.former_ignore import Held
from vault.desks.ignore import IGNORE_FILE, MAX_IGNORE_BYTES, Ignore, is_text
from vault.desks.paths import (
    DOT_VAULT,
    MAX_NAME_BYTES,
    MAX_PATH_BYTES,
    TEMP_NAME,
    have_twins,
    illegal_elsewhere,
    is_plain,
    is_system_name,
    is_vault_name,
    join,
    name_problem,
    twin_key,
)
from vault.desks.ports import Source
from vault.desks.scancache import Seen, SeenDirectory
from vault.desks.tree import lookup, walk
from vault.files import Unreadable, reason_of
from vault.records import RecordHash

__all__ = ["Chosen", "Names", "Problem", "is_unchanged", "rules_of"]

_NO_RULES = f"Nothing was taken, since {IGNORE_FILE} says what stays yours: put it right or away, and try again."


class Problem(NamedTuple):
    r"""Something in the folder that a person should know of.

    Args:
        path: relative to the desk; bytes that are no UTF-8 are shown as `\xNN`.
        reason: what is wrong, as the end of a sentence that starts with the path.
        kind: "skipped" when it was not taken, "notice" when it was.
        cause: the same as a value, where an act hangs on it.
    """

    path: str
    reason: str
    kind: Literal["skipped", "notice"] = "skipped"
    cause: Cause = Cause.OTHER


Chosen = tuple["os.DirEntry[str]", str, bool]
"""What a scan takes: the entry, its name in the tree, and whether a notice about that is due at every scan."""


class Names:
    """Chooses among the names of one folder, and gathers what a person should know of it.

    Args:
        rules: the bytes of its rules.
        without: sub-directories that are desks of their own.
        held: former rules that hold on.
        source: where the tree is read that the folder looks at.

    Attributes:
        problems: what was found, in no order.
        unknown: paths that could not be taken; where the base has something there, it is kept.
        doubtful: directories of which something has to be said again at each scan.
    """

    def __init__(
        self, rules: bytes, without: frozenset[str], held: Held = Held(), source: Source | None = None
    ) -> None:
        self._ignore = Ignore(rules)
        self._written = rules
        self._held = held
        self._source = source
        self._former = held.judges()
        self._without = without
        self.problems = [Problem(IGNORE_FILE, fault, "notice", Cause.RULES) for fault in self._ignore.faults]
        self.unknown: set[str] = set()
        self.doubtful: set[str] = set()

    @property
    def digest(self) -> bytes:
        """What stands for the rules in a scan's context."""
        return self._held.digest(self._ignore.digest)

    def skip(self, where: str, name: str, reason: str, cause: Cause = Cause.OTHER) -> None:
        """Leave a name out, and say why."""
        shown = join(where, name).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        self.problems.append(Problem(shown, reason, cause=cause))
        self.doubtful.add(where)
        plain = normalize("NFC", name)
        if not name_problem(plain):  # else no tree holds it
            self.unknown.add(join(where, plain))

    @property
    def hangs_on_base(self) -> bool:
        """Whether what is taken hangs on the tree that the folder is compared with: rules leave alone what is in it."""
        return bool(self._ignore.has_rules or self._former)

    def is_of_base(self, tree: bytes, base: BaseDirectory) -> bool:
        """Tell whether the rules say now what they said when a tree was made: what the base has is always taken."""
        if not self.hangs_on_base:
            return True
        root = base.root()
        return root is not None and root.digest == tree

    def note_shared(self, found: RecordHash, changes: Iterable[Change], source: Source) -> None:
        """Note what the rules name and its owner may believe unshared: rules leave alone what the base has (CLAY-71).

        Asked are the files that changed, and all where the rules did: whoever names a file there is told at once.

        Args:
            found: the tree of the scan.
            changes: how it differs from the base.
            source: where it is read.
        """
        if not self._ignore.has_rules:
            return
        paths = {one.path for one in changes if one.after is not None and not one.after.is_dir}
        if IGNORE_FILE in paths:
            with suppress(MissingObject):  # then only those that changed are told of: a notice stops no commit
                paths = {path for path, entry in walk(source, found) if not entry.is_dir}
        said = Ignore(self._written, is_alone=True)
        named = {_named_by(said, path) for path in paths}
        shared = Cause.STILL_SHARED
        self.problems += [Problem(path, shared.words, "notice", shared) for path in named - {"", IGNORE_FILE}]

    def choose(
        self, found: list[os.DirEntry[str]], where: str, before: SeenDirectory | None, base: BaseDirectory
    ) -> dict[str, Chosen]:
        """Return the entries to take, by name on the disk."""
        chosen: dict[str, Chosen] = {}
        known = before.items if before is not None else {}
        versioned = None if before is None or self.is_of_base(before.digest, base) else base.entries()
        is_short = (len(where) + 1 + MAX_NAME_BYTES) * 4 <= MAX_PATH_BYTES
        takes_plain = is_short and not (self.hangs_on_base or self._without)
        fresh = 0
        for entry in found:
            name = entry.name
            seen = known.get(name)
            if seen is not None and not seen.is_noticed and (seen.kind == b"d") == entry.is_dir(follow_symlinks=False):
                plain = name if name.isascii() else normalize("NFC", name)
                old = versioned.get(plain) if versioned is not None else None
                if versioned is None or (old is not None and old.is_dir == (seen.kind == b"d")):
                    chosen[name] = (entry, plain, False)
                    continue
            is_simple = takes_plain and is_plain(name)
            plain = name if is_simple else self._named(entry, where, base)
            if plain:
                chosen[name] = (entry, plain, not is_simple and self._notice(where, plain))
                fresh += 1
        # Names that all stood together before cannot be twins.
        if fresh and have_twins([plain for _, plain, _ in chosen.values()]):
            self._drop_twins(chosen, where, base)
        return chosen

    def _named(self, entry: os.DirEntry[str], where: str, base: BaseDirectory) -> str:
        """Return the name in the tree of an entry not seen before; empty when it is not to be taken."""
        disk = entry.name
        if (not where and disk == DOT_VAULT) or TEMP_NAME.fullmatch(disk) is not None:
            return ""
        name = disk if disk.isascii() else normalize("NFC", disk)
        problem = name_problem(name)
        if not problem and is_vault_name(name):
            problem = "has a name that some disks take for the vault itself"
        path = join(where, name)
        if problem:
            self.skip(where, disk, problem)
            return ""
        if len(path) * 4 > MAX_PATH_BYTES and len(path.encode()) > MAX_PATH_BYTES:
            self.skip(where, disk, f"has a path of more than {MAX_PATH_BYTES} bytes")
            return ""
        if path in self._without:
            self.doubtful.add(where)
            return ""
        is_dir = entry.is_dir(follow_symlinks=False)
        is_out = self._ignore.matches(path, is_dir=is_dir)
        if is_out or self._is_held(path, is_dir=is_dir):
            versioned = base.entries().get(name)
            if versioned is None or versioned.is_dir != is_dir:
                if not is_out:
                    self.skip(where, disk, Cause.HELD.words, Cause.HELD)
                elif is_system_name(name):  # the base may have it one day, and no look at the directory asks that
                    self.doubtful.add(where)
                return ""
        return name

    def _is_held(self, path: str, *, is_dir: bool) -> bool:
        is_former = any(rules.matches(path, is_dir=is_dir) for rules in self._former)
        return is_former and not self._held.is_named(path) and not self._is_looked_at(path, is_dir=is_dir)

    def _is_looked_at(self, path: str, *, is_dir: bool) -> bool:
        """Tell whether the folder looks at a state that has this: then a checkout wrote it, and nobody keeps it."""
        if self._held.looked is None or self._source is None:
            return False
        try:
            entry = lookup(self._source, self._held.looked, path)
        except MissingObject:
            return False
        return entry is not None and entry.is_dir == is_dir

    def _notice(self, where: str, name: str) -> bool:
        """Say it if some disks have trouble with a name; return whether it is looked at again at every scan.

        So is a system's file that is taken since the base has it.
        """
        reason = illegal_elsewhere(name)
        if reason:
            self.problems.append(Problem(join(where, name), reason, "notice"))
        return bool(reason) or is_system_name(name)

    def _drop_twins(self, chosen: dict[str, Chosen], where: str, base: BaseDirectory) -> None:
        """Leave out all but one of names that differ only in case or form: the base's, else the first."""
        groups: dict[str, list[str]] = {}
        for disk, (_, name, _) in chosen.items():
            groups.setdefault(twin_key(name), []).append(disk)
        for twins in groups.values():
            if len(twins) == 1:
                continue
            versioned = base.entries()
            twins.sort(key=lambda disk: (chosen[disk][1] not in versioned, chosen[disk][1] != disk, disk))
            kept = chosen[twins[0]][1]
            self.doubtful.add(where)
            for disk in twins[1:]:
                name = chosen.pop(disk)[1]
                why = "is there twice, with its letters made of other bytes"
                if name != kept:
                    why = f"differs from {kept!r} only in a way some disks ignore"
                    self.unknown.add(join(where, name))
                self.problems.append(Problem(join(where, name), why))


def _named_by(rules: Ignore, path: str) -> str:
    """Return the uppermost directory of a file that rules leave out, else the file, else nothing."""
    if not rules.matches(path, is_dir=False):
        return ""
    ends = (at for at, sign in enumerate(path) if sign == "/")
    return next((path[:end] for end in ends if rules.matches(path[:end], is_dir=True)), path)


def rules_of(root: Path, fd: int) -> bytes:
    """Return the bytes of the folder's rules; none where it has no such file.

    Raises:
        Unreadable: they are there and cannot be told. To go on without them would take, and with the next release give
            away, what they keep out.
    """
    try:
        rules = read_file(fd, IGNORE_FILE, MAX_IGNORE_BYTES)[0]
    except FileNotFoundError:
        return b""
    except FileChanging as error:
        reason = f"it is being written, or is not a plain file of at most {MAX_IGNORE_BYTES} bytes"
        raise Unreadable(f"{root / IGNORE_FILE} cannot be read: {reason}.", hint=_NO_RULES) from error
    except OSError as error:
        reason = "it is a symbolic link" if error.errno == errno.ELOOP else reason_of(error)
        raise Unreadable(f"{root / IGNORE_FILE} cannot be read: {reason}.", hint=_NO_RULES) from error
    if not is_text(rules):
        raise Unreadable(f"{root / IGNORE_FILE} cannot be read: it is not UTF-8 text.", hint=_NO_RULES)
    return rules


def is_unchanged(entry: os.DirEntry[str], known: Seen) -> bool:
    """Tell whether a file or link is as the last scan saw it; a directory has to be looked into."""
    if known.is_racy or known.kind == b"d":
        return False
    try:
        return signature(entry.stat(follow_symlinks=False)) == known.signature
    except OSError:
        return False
