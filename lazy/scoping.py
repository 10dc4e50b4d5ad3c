"""A sync about some desks or paths: what is fetched is narrowed, what is sent is not (FAC-15, FAC-20, INT-136).

The scope is the reader's operand: a module of rules that selects every sealed record, and of content what lies under
the paths in the releases and revisions of the desks (`lazy.interlace.scope`). At a mailbox it stands in the plan. A
peer that answers is asked only for what it selects, and its log is not taken as read. Either way the rest stays named
as missing, so the next sync without a scope brings it; until then a release that lacks something is not shown, and its
files that are here can be read.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lazy.interlace.plan import Evaluation, ModuleRegistry, PolicyModule
from lazy.interlace.policy import LocalFacts, local_module, registry
from lazy.interlace.scope import Scope, scope_text
from vault.desks.tree import lookup
from vault.errors import DataError
from vault.records import RecordHash
from vault.rules import StoreFacts, View
from vault.vault import Vault

__all__ = ["ScopedSync", "scoped"]

_SHARED = "SELECT p FROM shared"
_SHARED_TREES = (
    "SELECT DISTINCT c.desk, c.tree FROM shared s JOIN commits c USING (p) WHERE s.content = 1 ORDER BY c.p DESC"
)


@dataclass(frozen=True, slots=True)
class ScopedSync:
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
        """Return the paths of the scope that nothing shared has, as far as the way there is here: a sync fetches it."""
        trees = [RecordHash.parse(str(tree)) for desk, tree in vault.store.rows(_SHARED_TREES) if self._has(str(desk))]
        return [path for path in sorted(self.scope.paths) if not any(_may_hold(vault, tree, path) for tree in trees)]

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
        RuleError: it is too large for one module.
    """
    if scope is None or scope.is_everything:
        return None
    facts = LocalFacts(StoreFacts(vault.store.path), View(_SHARED))
    return ScopedSync(scope, local_module(scope_text(scope), facts), registry(facts))
