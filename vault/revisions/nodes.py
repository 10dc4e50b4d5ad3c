"""Nodes: a tree as the revision store's readers see it (CLAY-20 to CLAY-28, H-19, H-20).

A node is a file, a directory, or both: a directory's entry `@self` is its own content. Its hash depends on its content
and on all children, whatever the order they came in, and on nothing else: not on pages, chunks or encodings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from blake3 import blake3

from vault.desks.pages import Entry
from vault.desks.ports import Source
from vault.desks.tree import lookup, read_directory
from vault.errors import DataError
from vault.records import RecordHash, b64a

__all__ = ["EMPTY", "Node", "NodeReader", "NodeTooLarge"]

_SELF_NAME: Final = "@self"
_MAX_NODES: Final = 200_000  # of one full read
_DOMAIN: Final = b"lace-node/v1"
_NO_CONTENT: Final = bytes(32)


class NodeTooLarge(DataError):
    """A node has more descendants than a full read may hold."""

    code = "node-too-large"
    exit_code = 46
    hint = "Read a directory further down, or the shallow node: lace read y"


@dataclass(frozen=True, slots=True)
class Node:
    """One node.

    Args:
        content: the data record of its own content; None when it has none.
        size: bytes of that content.
        children: its children by name, sorted; nodes where they were read, else their entries.
    """

    content: RecordHash | None = None
    size: int = 0
    children: dict[str, Node] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing at the path (CLAY-25)."""
        return self.content is None and not self.children

    def hash(self) -> str:
        """Return the node hash as text: `N.<b64a>.H3` (H-19)."""
        return f"N.{b64a.encode(self.digest())}.H3"

    def digest(self) -> bytes:
        """Return the node hash as 32 bytes (H-19)."""
        total = blake3(_DOMAIN + (self.content.digest if self.content else _NO_CONTENT))
        for name in sorted(self.children):
            encoded = name.encode()
            total.update(len(encoded).to_bytes(2, "big") + encoded + self.children[name].digest())
        return total.digest()

    def shallow(self) -> dict[str, Any]:
        """Return what `y` tells: own hash, content, names of the children (CLAY-21)."""
        return {"hash": self.hash(), "content": self._content(), "size": self.size, "children": sorted(self.children)}

    def full(self) -> dict[str, Any]:
        """Return what `z` tells: the same of every descendant (CLAY-22)."""
        children = {name: self.children[name].full() for name in sorted(self.children)}
        return {"hash": self.hash(), "content": self._content(), "size": self.size, "children": children}

    def _content(self) -> str | None:
        return self.content.text if self.content else None

    def paths(self, prefix: str = "") -> Iterator[tuple[str, Node]]:
        """Yield the paths below that have content, with their nodes, sorted."""
        for name in sorted(self.children):
            path = f"{prefix}/{name}" if prefix else name
            if self.children[name].content is not None:
                yield path, self.children[name]
            yield from self.children[name].paths(path)


EMPTY: Final = Node()


class NodeReader:
    """Reads nodes of trees; what a tree's record says never changes, so answers are kept (CLAY-23).

    Args:
        source: where pages are read.
        limit: nodes of one full read.
    """

    def __init__(self, source: Source, limit: int = _MAX_NODES) -> None:
        self._source = source
        self._limit = limit
        self._known: dict[RecordHash, Node] = {}
        self._count = 0

    def at(self, tree: RecordHash | None, path: str) -> Node:
        """Return the node at a path, whole; the empty node where there is none.

        Raises:
            NodeTooLarge: it has too many descendants.
            MissingObject, TreeError: a page cannot be read.
        """
        if tree is None:
            return EMPTY
        self._count = 0
        if not path:
            return self._directory(tree)
        entry = lookup(self._source, tree, path)
        return EMPTY if entry is None else self._of(entry)

    def _of(self, entry: Entry) -> Node:
        self._count += 1
        if self._count > self._limit:
            raise NodeTooLarge(f"There are more than {self._limit} nodes below the path.")
        return self._directory(entry.hash) if entry.is_dir else Node(entry.hash, entry.size)

    def _directory(self, tree: RecordHash) -> Node:
        known = self._known.get(tree)
        if known is None:
            own: Entry | None = None
            children = {}
            for entry in read_directory(self._source, tree):
                if entry.name == _SELF_NAME and not entry.is_dir:
                    own = entry
                else:
                    children[entry.name] = self._of(entry)
            known = Node(own.hash if own else None, own.size if own else 0, children)
            if len(self._known) >= self._limit:
                self._known.clear()
            self._known[tree] = known
        return known
