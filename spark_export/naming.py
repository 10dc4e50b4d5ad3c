"""What nodes are called in reports: as they, or who let them in, have signed it, and no two alike (APP-9).

A name is what a finding is put on, so the word of who exports counts for none. As in a vault the newest card of a node
counts, and without a card what is said where it was admitted; of several such names that which most exports hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from vault.errors import DataError
from vault.profile import Member, NodeCard, read
from vault.records import Verifier, parse_record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Naming", "distinct", "naming", "register_names"]

_SAID: Final = """
    SELECT naming(bytes) AS said, holders FROM (
        SELECT bytes, count(DISTINCT exporter) AS holders FROM records
        WHERE app IN ('lace/member', 'lace/node') AND bytes IS NOT NULL GROUP BY bytes)"""
_FORM: Final = "struct<node: string, is_card: boolean, tai: string, label: string>"
_KEY: Final = slice(2, 8)  # of a verifier, after its `V.`: as a vault tells apart who has one name


class Naming(NamedTuple):
    """What a record calls a node.

    Args:
        node: verifier text.
        is_card: whether the node says so itself.
        tai: TAI text of the record.
        label: the name.
    """

    node: str
    is_card: bool
    tai: str
    label: str


def register_names(session: SparkSession) -> None:
    """Make the view `names` of `node` and `name`, from the view `records`."""
    session.udf.register("naming", naming, _FORM)
    said = [(Naming(*row[0]), int(row[1])) for row in session.sql(_SAID).collect() if row[0] is not None]
    rows = sorted(distinct(_names_of(said)).items())
    session.createDataFrame(rows, "node string, name string").createOrReplaceTempView("names")


def naming(stored: bytes) -> Naming | None:
    """Return what a stored record calls a node; None where it is not wholly what it says, or names nobody."""
    try:
        value = read(parse_record(bytes(stored)))
    except DataError:
        return None
    match value:
        case NodeCard():
            return Naming(str(value.signer), is_card=True, tai=value.tai.text, label=value.label)
        case Member():
            return Naming(value.node.text, is_card=False, tai=value.tai.text, label=value.label)
        case _:
            return None


def _names_of(said: Iterable[tuple[Naming, int]]) -> dict[str, str]:
    """Return the name of each node.

    Args:
        said: what records call them, each with how many exports hold the record.
    """
    best: dict[str, tuple[bool, str, int, str]] = {}
    for one, holders in said:
        rank = (one.is_card, one.tai if one.is_card else "", holders, one.label)
        best[one.node] = max(best.get(one.node, rank), rank)
    return {node: rank[-1] for node, rank in best.items()}


def distinct(names: Mapping[str, str]) -> dict[str, str]:
    """Return the names, with the start of the key where several nodes have one, and the key where that is taken too.

    Nobody is called by the key of another: who has no card at all is shown as theirs.
    """
    counts = Counter(names.values())
    keyed = {node: name if counts[name] == 1 else f"{name}-{node[_KEY]}" for node, name in names.items()}
    counts = Counter(keyed.values())
    return {node: name if counts[name] == 1 and not _is_key(name) else node for node, name in keyed.items()}


def _is_key(name: str) -> bool:
    with suppress(DataError):
        Verifier.parse(name)
        return True
    return False
