"""What an atom reads in SQL: its table, its columns, and how values of one column compare with another's.

A value is a text. In tables it stands in one of three representations: `R`, the position of a stored record whose hash
text it is; `Y`, the number of an interned symbol; `T`, the text itself. Joins between equal representations compare
integers; `convert` goes from one to another. A value that has no representation of the wanted kind converts to
nothing, which equals nothing: right, because then no row of that kind can hold it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from vault.profile import CONTENT_APPS
from vault.rules.headers import is_unindexed
from vault.rules.predicates import RECORD_FACTS
from vault.rules.syntax import ANY, Atom, Constant, Term, Variable

# ruff: noqa: S608 - statements are put together from our own names; what programs say is always bound
__all__ = ["RECORD", "SYMBOL", "TEXT", "Binding", "Catalog", "Unit", "convert", "is_any", "unit_of"]

RECORD: Final = "R"
SYMBOL: Final = "Y"
TEXT: Final = "T"

_ZERO: Final = "'0'"

# Headers that are columns of `rec`: (expression, representation, condition that the record has one).
_COLUMNS: Final[Mapping[str, tuple[str, str, str]]] = {
    "Group": ("{a}.grp", SYMBOL, ""),
    "App": ("{a}.app", SYMBOL, ""),
    "Name": ("{a}.name", TEXT, "{a}.name IS NOT NULL"),
    "TAI": ("{a}.tai", TEXT, "{a}.tai IS NOT NULL"),
    "Signed-By": ("{a}.signer", SYMBOL, "{a}.signer IS NOT NULL"),
    "Data-Length": ("CAST({a}.size AS TEXT)", TEXT, ""),
    "Type": ("CASE WHEN {a}.plex IS NULL THEN 'P' ELSE 'S' END", TEXT, ""),
}


class Binding(NamedTuple):
    """One column of a unit and the term that stands there."""

    expression: str
    kind: str
    term: Term


@dataclass(slots=True)
class Unit:
    """One or several atoms that are read from one table row.

    Args:
        predicates: their names.
        family: "store", "shared", "given" or "derived".
        table: the table.
        alias: its name in the statement.
        bindings: its columns.
        conditions: what must hold of the row besides.
        joins: further tables of the same record.
        position: expression of the record's position, if it is a record fact.
        cost: how dear a row is: 1 for a column, more if stored bytes are read.
        keyed: whether its record must be known before it is read.
    """

    predicates: list[str]
    family: str
    table: str
    alias: str
    bindings: list[Binding]
    conditions: list[str] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    position: str = ""
    cost: int = 1
    keyed: bool = False

    @property
    def variables(self) -> set[str]:
        """The variables it binds."""
        return {binding.term.name for binding in self.bindings if isinstance(binding.term, Variable)}

    def merge(self, other: Unit) -> None:
        """Take in a unit that reads the same row of the same table."""
        rename = other.alias + "."
        self.predicates += other.predicates
        for binding in other.bindings:
            expression = binding.expression.replace(rename, self.alias + ".")
            self.bindings.append(Binding(expression, binding.kind, binding.term))
        for condition in other.conditions:
            renamed = condition.replace(rename, self.alias + ".")
            if renamed not in self.conditions:
                self.conditions.append(renamed)


class Catalog(NamedTuple):
    """What the SQL of one evaluation can name.

    Args:
        has_store: whether a store answers the record facts.
        tables: table of each given and derived predicate.
        kinds: representations of the columns of derived predicates.
        derived: the derived predicates.
    """

    has_store: bool
    tables: Mapping[str, str]
    kinds: Mapping[str, tuple[str | None, ...]]
    derived: frozenset[str]

    @property
    def plain(self) -> str:
        """The representation of given tuples and of constants in heads.

        Beside a store it is the text, because the store's symbols cannot be added to.
        """
        return TEXT if self.has_store else SYMBOL


def unit_of(atom: Atom, alias: str, catalog: Catalog) -> Unit:
    """Return what a positive or negated atom reads."""
    name = atom.predicate
    if catalog.has_store and name in RECORD_FACTS:
        return _record_unit(atom, alias)
    is_derived = name in catalog.derived
    kinds = catalog.kinds[name] if is_derived else (catalog.plain,) * len(atom.terms)
    bindings = [
        Binding(f"{alias}.c{n}", kind or catalog.plain, term)
        for n, (term, kind) in enumerate(zip(atom.terms, kinds, strict=True))
    ]
    return Unit([name], "derived" if is_derived else "given", catalog.tables[name], alias, bindings)


def _record_unit(atom: Atom, a: str) -> Unit:
    match atom.predicate:
        case "Shared":
            unit = Unit(["Shared"], "shared", "main.shared", a, [], position=f"{a}.p")
        case "RecordLink":
            unit = Unit(["RecordLink"], "store", "main.link", a, [], position=f"{a}.p")
            columns = [(f"{a}.name", SYMBOL), (f"CAST({a}.idx AS TEXT)", TEXT), (f"{a}.data", SYMBOL), (f"{a}.t", TEXT)]
            unit.bindings = [Binding(e, kind, term) for (e, kind), term in zip(columns, atom.terms[1:], strict=True)]
        case "Field":
            return _field_unit(atom, a)
        case "TreeEntry":
            unit = Unit(["TreeEntry"], "store", "main.body", a, [], position=f"{a}.p", cost=50, keyed=True)
            unit.bindings = [
                Binding(f"json_extract({a}j.value, '$[{n}]')", TEXT, term) for n, term in enumerate(atom.terms[1:])
            ]
            unit.joins = [f"json_each(lace_entries(lace_stored({a}.p, {a}.bytes))) AS {a}j"]
        case "BlobHash":
            unit = Unit(["BlobHash"], "store", "main.body", a, [], position=f"{a}.p", cost=20)
            unit.bindings = [Binding(f"lace_blob(lace_stored({a}.p, {a}.bytes))", TEXT, atom.terms[1])]
        case "PlexHash":
            unit = Unit(["PlexHash"], "store", "main.rec", a, [], [f"{a}.plex IS NOT NULL"], position=f"{a}.p")
            unit.bindings = [Binding(f"lace_text('P', {a}.plex)", TEXT, atom.terms[1])]
        case _:
            unit = Unit(["Have"], "store", "main.rec", a, [], position=f"{a}.p")
    unit.bindings.insert(0, Binding(f"{a}.p", RECORD, atom.terms[0]))
    return unit


def _field_unit(atom: Atom, a: str) -> Unit:
    record, name, index, value = atom.terms
    first = Binding(f"{a}.p", RECORD, record)
    if isinstance(name, Constant) and name.text in _COLUMNS:
        expression, kind, condition = _COLUMNS[name.text]
        conditions = [condition.format(a=a)] if condition else []
        if name.text == "App" and isinstance(value, Constant) and value.text not in CONTENT_APPS:
            conditions.append(f"{a}.name IS NOT NULL")  # true of all of them, and lets SQLite use the index on Name
        bindings = [first, Binding(_ZERO, TEXT, index), Binding(expression.format(a=a), kind, value)]
        return Unit(["Field"], "store", "main.rec", a, bindings, conditions, position=f"{a}.p")
    if isinstance(name, Constant) and not is_unindexed(name.text):
        bindings = [
            first,
            Binding(f"{a}.name", SYMBOL, name),
            Binding(f"CAST({a}.idx AS TEXT)", TEXT, index),
            Binding(f"{a}.val", SYMBOL, value),
        ]
        return Unit(["Field"], "store", "main.field", a, bindings, position=f"{a}.p")
    parts = [Binding(f"json_extract({a}j.value, '$[{n}]')", TEXT, term) for n, term in enumerate((name, index, value))]
    wanted = "NULL" if not isinstance(name, Constant) else "{constant}"
    unit = Unit(["Field"], "store", "main.body", a, [first, *parts], position=f"{a}.p", cost=50)
    unit.joins = [f"json_each(lace_fields(lace_stored({a}.p, {a}.bytes), {wanted})) AS {a}j"]
    return unit


def convert(expression: str, kind: str, wanted: str) -> str:
    """Return the expression in another representation; NULL where the value has none there."""
    if kind == wanted:
        return expression
    text = expression
    if kind == SYMBOL:
        text = f"(SELECT y.s FROM main.sym AS y WHERE y.id = {expression})"
    elif kind == RECORD:
        text = f"(SELECT lace_text(h.kind, h.digest) FROM main.body AS h WHERE h.p = {expression})"
    if wanted == TEXT:
        return text
    if wanted == SYMBOL:
        return f"(SELECT y.id FROM main.sym AS y WHERE y.s = {text})"
    return f"(SELECT h.p FROM main.body AS h WHERE h.digest = lace_digest({text}) AND h.kind = substr({text}, 1, 1))"


def is_any(term: Term) -> bool:
    """Tell whether a term is `_`."""
    return term == ANY
