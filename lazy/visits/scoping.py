"""A sync about some desks or paths: what is fetched is narrowed, what is sent is not (FAC-15, FAC-20, INT-136).

The scope is the reader's operand: a module of rules that selects every sealed record, and of content what lies under
the paths in the releases and revisions of the desks (`lazy.interlace.scope`). At a mailbox it stands in the plan. A
peer that answers is asked only for what it selects, and its log is not taken as read. Either way the rest stays named
as missing, so the next sync without a scope brings it; until then a release that lacks something is not shown, and its
files that are here can be read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from lazy.interlace.plan import Evaluation, ModuleRegistry, PolicyModule
from lazy.interlace.policy import LocalFacts, local_module, registry
from lazy.interlace.scope import Scope, scope_text
from vault.desks.tree import lookup
from vault.errors import CallerError, DataError
from vault.notes.own import MOST_NOWHERE, NOWHERE
from vault.records import RecordHash
from vault.rules import StoreFacts, View
from vault.rules.errors import RuleTooLarge
from vault.vault import Vault

__all__ = ["ScopeTooLarge", "ScopedSync", "scoped"]

_SHARED = "SELECT p FROM shared"
# What was shared with its content after a number of the exposure log, by itself or for what names it.
_SHARED_TREES = """
SELECT DISTINCT c.desk, c.tree FROM commits c JOIN shared s USING (p) WHERE s.content = 1 AND c.hash IN (
    SELECT k.hash FROM exposure x JOIN commits k USING (p) WHERE x.at > ?1
    UNION SELECT r.commit_hash FROM exposure x JOIN release r USING (p) WHERE x.at > ?1
    UNION SELECT d.result FROM exposure x JOIN resolution d USING (p) WHERE x.at > ?1)
ORDER BY c.p DESC"""
# The same of all that was ever shared, the newest first and one by one: mostly the first has the path.
_ALL_TREES = "SELECT c.desk, c.tree FROM commits c CROSS JOIN shared s USING (p) WHERE s.content = 1 ORDER BY c.p DESC"


class ScopeTooLarge(CallerError):
    """More desks and paths were named than one sync can be about."""

    code = "scope-too-large"
    exit_code = 2
    hint = "Sync in parts, each about fewer of them, or about a directory that holds them."


class ScopedSync(NamedTuple):
    """A scope, ready to run over a vault.

    Args:
        scope: the desks and paths.
        module: the same as a policy.
        registry: what can be run of a peer's policies beside it.
    """

    scope: Scope
    module: PolicyModule
    registry: ModuleRegistry

    def select(self, missing: Collection[RecordHash]) -> set[RecordHash]:
        """Return those of some missing records that lie in the scope, as far as the way to them is here."""
        if not missing:
            return set()
        return set(self.module.select(Evaluation("there", dict.fromkeys(missing, ()))))

    def unknown_desks(self, vault: Vault) -> list[str]:
        """Return the desks of the scope that nobody has shared anything of, as far as is known here."""
        known = {str(row[0]) for row in vault.store.rows("SELECT DISTINCT desk FROM rev")}
        known |= {str(row[0]) for row in vault.store.rows("SELECT DISTINCT desk FROM release")}
        return sorted(self.scope.desks - known)

    def unknown_paths(self, vault: Vault) -> list[str]:
        """Return the paths of the scope that nothing shared has, as far as the way there is here: a sync fetches it.

        How far that was looked through is remembered, so that the next look costs what was shared since.
        """
        before = vault.store.note(NOWHERE)
        top = vault.store.exposed()
        unknown = {path: top for path in sorted(self.scope.paths) if self._is_nowhere(vault, path, before)}
        others = {key: at for key, at in before.items() if key not in {self._key(path) for path in self.scope.paths}}
        found = others | {self._key(path): at for path, at in unknown.items()}
        if found != before:
            kept = dict([*found.items()][-MOST_NOWHERE:])
            with vault.writing(receiving=True) as w:
                w.store.set_note(NOWHERE, kept)
        return [*unknown]

    def _is_nowhere(self, vault: Vault, path: str, before: Mapping[str, int]) -> bool:
        after = before.get(self._key(path), 0)
        rows = vault.store.rows(_SHARED_TREES, after) if after else vault.store.db.execute(_ALL_TREES)
        trees = (RecordHash.parse(str(tree)) for desk, tree in rows if self._has(str(desk)))
        return not any(_may_hold(vault, tree, path) for tree in trees)

    def _key(self, path: str) -> str:
        return "\n".join([path, *sorted(self.scope.desks)])

    def _has(self, desk: str) -> bool:
        return not self.scope.desks or desk in self.scope.desks


def _may_hold(vault: Vault, tree: RecordHash, path: str) -> bool:
    try:
        return lookup(vault.store, tree, path) is not None
    except DataError:
        return True  # what lies on the way has not come


def scoped(vault: Vault, scope: Scope | None) -> ScopedSync | None:
    """Return a scope ready to run; None for everything.

    Raises:
        ScopeTooLarge: it has too many desks or paths.
    """
    if scope is None or scope.is_everything:
        return None
    facts = LocalFacts(StoreFacts(vault.store.path), View(_SHARED))
    try:
        return ScopedSync(scope, local_module(scope_text(scope), facts), registry(facts))
    except RuleTooLarge as error:  # the person wrote no program, so its words would say nothing to them
        raise ScopeTooLarge("One sync cannot be about so many desks and paths.") from error
