"""Former rules of `.laceignore` that hold on: what they kept out of a commit stays out (CLAY-71).

An older state of the folder, or a friend's, may lack a rule that kept a private file here. Whoever changed the rules so
did not mean that file; so the former rules hold on for what nobody versions, until a person names it or it is gone. So
do, in a folder that becomes a desk, those of the desk around it, until it has a `.laceignore` of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from blake3 import blake3

from vault.desks.ignore import Ignore

if TYPE_CHECKING:
    from vault.records import RecordHash

__all__ = ["Former", "Held", "still_hold"]


class Former(NamedTuple):
    """A former rule file.

    Args:
        rules: its bytes.
        below: where the desk lies, relative to the folder whose file it is; empty for the desk's own.
    """

    rules: bytes
    below: str = ""


class Held(NamedTuple):
    """Former rules that hold on.

    Args:
        rules: former rule files, each judged by itself.
        named: paths that a person names now; they and what is below them are not held.
        looked: the tree of an older state that the folder looks at; what it has is not held.
    """

    rules: tuple[Former, ...] = ()
    named: tuple[str, ...] = ()
    looked: RecordHash | None = None

    def digest(self, rules: bytes) -> bytes:
        """Return what stands for the folder's rules, of this digest, and these together.

        What a person names is left out: a scan looks again at each name that it left, and at all that no base has.
        """
        if not self.rules:
            return rules
        former = (part for one in self.rules for part in (one.below.encode(), one.rules))
        return blake3(b"\0".join((rules, *former))).digest(8)

    def judges(self) -> list[Ignore]:
        """Return the rules, ready to be asked."""
        return [Ignore(*former, is_alone=True) for former in self.rules]

    def is_named(self, path: str) -> bool:
        """Tell whether a person named this path, or one above or below it."""
        return any(
            path == name or path.startswith(name + "/") or name.startswith(path + "/") for name in self.named if name
        )


def still_hold(before: bytes, after: bytes) -> bool:
    """Tell whether new rules surely keep out all that the former ones kept out."""
    old, new = _lines(before), _lines(after)
    kept = [line for line in new if line in set(old)]
    return kept == old and not any(line.startswith(b"!") for line in set(new) - set(old))


def _lines(rules: bytes) -> list[bytes]:
    return [line for line in rules.splitlines() if line.strip() and not line.startswith(b"#")]
