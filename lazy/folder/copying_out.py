"""A copy of a revision in another folder (CLAY-24)."""

from __future__ import annotations

from pathlib import Path

from lazy.address import ResolvedCommit
from lazy.folder.written import FolderInTheWay
from vault.desks.checkout import CheckoutResult
from vault.desks.paths import DOT_VAULT
from vault.errors import EnvironmentFault
from vault.files import NotWritable
from vault.folder.copies import export_tree, is_directory
from vault.outside import require_outside
from vault.plural import few
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["FolderNotMade", "copy_out"]


class FolderNotMade(EnvironmentFault):
    """A folder for a copy cannot be made."""

    code = "folder-not-made"
    exit_code = 15
    hint = "Choose a folder that you may write to."


def copy_out(vault: Vault, found: ResolvedCommit, to: Path, watch: Watch = Watch()) -> CheckoutResult:
    """Write a copy of a revision into another folder.

    Raises:
        InTheVault: it would lie in the `.vault`.
        FolderNotMade: the folder cannot be made.
        FolderInTheWay: it holds other files already; nothing was written.
    """
    require_outside(vault.folder / DOT_VAULT, to)
    try:
        result = export_tree(vault, found.tree, to, watch)
    except NotWritable as error:
        if is_directory(to):
            raise
        raise FolderNotMade(f"{to} cannot be made: {error}") from error
    blocking = [skip for skip in result.skipped if skip.blocking]
    if blocking:
        shown = few([f"{skip.path} ({skip.reason})" for skip in blocking])
        way = "Name a folder that does not exist yet, or move those files away, and run the same command again."
        raise FolderInTheWay(f"{to} holds other files already, so nothing was written: {shown}.", hint=way)
    return result
