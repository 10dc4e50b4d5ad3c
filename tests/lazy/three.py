"""Three vaults of one group, and how one of them is revoked."""

from __future__ import annotations

from pathlib import Path

from lazy.belonging.revoking import plan_revocation, revoke
from lazy.sync import sync
from tests.vault import vaults
from vault.audit.trail import verify_trail
from vault.fsck.check import check
from vault.names import Version
from vault.releasing import release
from vault.revisions.history import releases
from vault.vault import Vault


def three(root: Path) -> tuple[Vault, Vault, Vault]:
    """Alice founded; she admitted bob, and bob admitted carol. Everybody released something, and all have met."""
    alice = vaults.found(root)
    bob = vaults.befriend(root, alice, "bob")
    carol = vaults.befriend(root, bob, "carol")
    for number, vault in enumerate((alice, bob, carol)):
        vaults.write(vault, f"{vault.name}.txt", "one\n")
        release(vault, Version(1, 0, number), f"by {vault.name}")
    meet(alice, bob, carol, alice, bob, carol)
    return alice, bob, carol


def contested(root: Path) -> tuple[Vault, ...]:
    """Alice and bob released different content under version 2.0.0, and cara knows of it."""
    alice, bob, cara = vaults.gathered(root, "bob", "cara")
    for vault in (alice, bob):
        vaults.write(vault, "a.txt", f"{vault.name}\n")
        release(vault, Version(2, 0, 0), "second")
    meet(alice, bob, cara, alice)
    return alice, bob, cara


def meet(*people: Vault) -> None:
    """Everybody syncs, one after the other."""
    for vault in people:
        sync(vault, ["stick"])


def cut(by: Vault, name: str, last: int | None = None, reason: str = "") -> None:
    """Revoke somebody up to an entry."""
    revoke(by, plan_revocation(by, name, last=last), reason)


def released(vault: Vault) -> list[str]:
    """Return whose releases are shown, with their versions."""
    return sorted(f"{found.node} {found.version}" for found in releases(vault.store))


def sound(*people: Vault) -> None:
    """Every view is what its records say, and every trail is whole."""
    for vault in people:
        report = check(vault)
        assert report.ok, report.bad
        assert verify_trail(vault).first_break is None
