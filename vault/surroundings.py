"""What the vault is told about the world: the one value through which clock, randomness and machine come in.

The floors below the terminal read no clock, environment or randomness themselves (architecture, section 3). The
command line makes one `Surroundings`; tests make another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vault.lock import Patience
from vault.records import Tai

__all__ = ["Surroundings"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Surroundings:
    """The world as one person's lace sees it.

    Args:
        data_root: directory of private keys and marks, outside every vault (architecture, decision 2).
        machine: 32 hex characters that stay the same on this machine.
        host: the machine's name, shown to friends beside the person's.
        now_ns: wall clock in nanoseconds since 1970 UTC; display and `TAI` only, never a decision (LAZ-16).
        entropy: returns that many random bytes.
        sleep: waits that many seconds, unless the person asked to stop; used while another process holds the vault.
        passphrase: asks for the passphrase of a protected key, or None when nobody can be asked.
        program: version text of this program, for audit entries.
        free_bytes: bytes that this person may still write where a path lies, or None when that cannot be told.
        media: directories below which the system shows what is plugged in.
        processors: how many of them this program may use; with a second one, much is verified beside the rest,
            and a large folder is looked at in shares.
        here: the folder in which the person types, for which a command that is offered is spelled; None for the
            shared one.
        waits: told who is waited for and what they do, "which is ...", where that takes longer than a second.
    """

    data_root: Path
    machine: str
    host: str
    now_ns: Callable[[], int]
    entropy: Callable[[int], bytes]
    sleep: Callable[[float], None]
    passphrase: Callable[[], bytes] | None = None
    program: str = "0"
    free_bytes: Callable[[Path], int | None] = lambda _path: None
    media: tuple[Path, ...] = ()
    processors: int = 1
    here: Path | None = None
    waits: Callable[[str, str], None] = lambda _who, _doing: None

    @property
    def patience(self) -> Patience:
        """How this person waits for another process."""
        return Patience(self.sleep, self.waits)

    def tai(self) -> Tai:
        """Return the wall clock as TAI, or the nearest instant to it that can be written."""
        return Tai.of_clock(self.now_ns())
