"""Scopes as operands: some desks, and some paths in them, as a program that selects only that (FAC-15, INT-136).

Sealed records, which are small and are the evidence for everything else, are always in scope; content is what a scope
narrows. A path is followed from the root of each release, one directory record after the other, through `TreeEntry`
facts that are answered for one record at a time: nobody unfolds a tree that no path leads to. What is missing is
selected as soon as the record that names it is here, so a tree of depth n takes n rounds of requests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lazy.interlace.errors import PlanCompilationFailed
from vault.lacegram import quoted
from vault.rules import canonical_text, parse_program

__all__ = ["Scope", "scope_text"]

_SEALED = (
    "SelectHave(P) :- Have(P), Shared(P), Field(P,'Type',_,'S').\n"
    "SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,S,'App',_,A), Prefix(A,'lace/'),"
    " Ne(A,'lace/data'), Ne(A,'lace/tree').\n"
)
_CONTENT = (
    "SelectHave(P) :- InScope(P), Have(P), Shared(P).\n"
    "SelectAdvertised(P,S) :- InScope(P), Advertised(P,S).\n"
    "Under(T) :- Under(R), TreeEntry(R,_,_,T).\n"
    "InScope(T) :- Under(T).\n"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which part of what is shared an exchange is about.

    Args:
        desks: names of desks; all if empty.
        paths: paths of files or directories from the root of a desk, with `/`; everything if empty.

    Raises:
        PlanCompilationFailed: a path is empty or has an empty part.
    """

    desks: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for path in self.paths:
            if not all(part not in {"", ".", ".."} for part in path.split("/")):
                raise PlanCompilationFailed(f"{path[:80]!r} is not a path from the root of a desk.")

    @property
    def is_everything(self) -> bool:
        """Whether it leaves nothing out."""
        return not self.desks and not self.paths


def scope_text(scope: Scope) -> str:
    """Return the canonical text of the module that selects what is in scope.

    A path below another one of the scope adds nothing and is left out, so scopes that mean the same have one text.

    Raises:
        RuleError: the scope is too large for one module.
    """
    rules = [_SEALED, _CONTENT, *_roots(scope.desks)]
    paths = [path.split("/") for path in sorted(scope.paths) if not _is_below_another(path, scope.paths)]
    if not paths:
        rules.append("Under(T) :- Root(T).\n")
    rules.append("On('',T) :- Root(T).\n")
    rules.append("On(D,T) :- On(D,R), TreeEntry(R,_,'page',T).\n")
    rules.append("InScope(T) :- On(_,T).\n")
    for parts in paths:
        for depth, part in enumerate(parts):
            before, here = "/".join(parts[:depth]), "/".join(parts[: depth + 1])
            rules.append(f"On({quoted(here)},T) :- On({quoted(before)},R), TreeEntry(R,{quoted(part)},_,T).\n")
        rules.append(f"Under(T) :- On({quoted('/'.join(parts))},T).\n")
    return canonical_text(parse_program("".join(rules)))


def _roots(desks: Iterable[str]) -> Iterable[str]:
    for app in ("lace/release", "lace/rev"):
        named = f"Released(C) :- Field(R,'App',_,{quoted(app)}), RecordLink(R,_,_,'commit',C)"
        if not desks:
            yield f"{named}.\n"
        for desk in sorted(desks):
            yield f"{named}, Field(R,'Name',_,N), Prefix(N,{quoted(desk + '/')}).\n"
    yield "Root(T) :- Released(C), RecordLink(C,_,_,'tree',T).\n"


def _is_below_another(path: str, others: Iterable[str]) -> bool:
    return any(path.startswith(other + "/") for other in others)
