"""Check a program before it runs: predicates, arities, safety, stratified negation (FAC-9).

A rule is *safe* when every variable of its head, of a negated literal and of a comparison occurs in a literal that is
neither: then all its values come from facts, and there are finitely many. A program is *stratified* when no predicate
depends on its own negation: then it has one meaning, found stratum by stratum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from vault.plural import plural
from vault.rules.canonical import canonical_text, program_id
from vault.rules.errors import RuleError, RulePredicateError, RulesUnstratified, RuleUnsafe
from vault.rules.predicates import BUILTINS, Base, catalog
from vault.rules.syntax import Anonymous, Atom, Constant, Literal, Program, Rule, Variable

__all__ = ["Checked", "check"]


class Checked(NamedTuple):
    """A program that can run.

    Args:
        program: the rules.
        arities: of every predicate it derives or reads.
        base: the base predicates it reads.
        components: the derived predicates in the order in which they are computed; those that depend on each
            other stand together.
        strata: the same predicates by stratum; what a stratum negates lies below it.
    """

    program: Program
    arities: Mapping[str, int]
    base: frozenset[str]
    components: tuple[tuple[str, ...], ...]
    strata: tuple[tuple[str, ...], ...]

    @property
    def id(self) -> str:
        """The identifier `R.<43>` (FAC-11)."""
        return program_id(self.program)

    @property
    def text(self) -> str:
        """The canonical text (FAC-11)."""
        return canonical_text(self.program)

    @property
    def derived(self) -> frozenset[str]:
        """The predicates it defines."""
        return frozenset(name for component in self.components for name in component)

    @property
    def is_monotonic(self) -> bool:
        """Whether more facts can only select more: no rule negates anything.

        Only then is what an exchange ends with the same whatever the order in which records came (INT-132..134).
        """
        return not any(literal.negated for rule in self.program.rules for literal in rule.body)

    def rules_of(self, predicate: str) -> tuple[Rule, ...]:
        """Return the rules that define a predicate, each once."""
        return tuple(dict.fromkeys(rule for rule in self.program.rules if rule.head.predicate == predicate))

    def only(self, queries: Iterable[str]) -> Checked:
        """Return the part of the program that the queried predicates depend on.

        Raises:
            RulePredicateError: the program does not define a queried predicate.
        """
        wanted: set[str] = set()
        waiting = list(queries)
        for name in waiting:
            if name not in self.derived:
                raise RulePredicateError(f"The program does not define {name[:64]}.")
        while waiting:
            name = waiting.pop()
            if name not in wanted:
                wanted.add(name)
                rules = self.rules_of(name)
                waiting += [atom.predicate for rule in rules for atom in _read(rule) if atom.predicate in self.derived]
        kept = tuple(rule for rule in self.program.rules if rule.head.predicate in wanted)
        reads = {atom.predicate for rule in kept for atom in _read(rule)}
        return Checked(
            Program(kept),
            {name: arity for name, arity in self.arities.items() if name in wanted | reads},
            frozenset(reads & self.base),
            _trimmed(self.components, wanted),
            _trimmed(self.strata, wanted),
        )


def _trimmed(groups: tuple[tuple[str, ...], ...], wanted: set[str]) -> tuple[tuple[str, ...], ...]:
    kept = (tuple(name for name in group if name in wanted) for group in groups)
    return tuple(group for group in kept if group)


def check(program: Program, profile: Iterable[Base] = ()) -> Checked:
    """Check a parsed program.

    Args:
        program: what `parse_program` returned.
        profile: base predicates that a profile declares besides the known ones (FAC-14).

    Raises:
        RulePredicateError: an unknown predicate, a wrong number of terms, or a head that is a base fact.
        RuleUnsafe: a variable is not bound.
        RulesUnstratified: a predicate depends on its own negation; the message names the cycle.
    """
    known = catalog(profile)
    arities = _heads(program, known)
    derived = set(arities)
    reads: set[str] = set()
    for rule in program.rules:
        for literal in rule.body:
            name = literal.atom.predicate
            if name in BUILTINS:
                _check_builtin(literal)
                continue
            arity = known[name].arity if name in known else arities.get(name)
            if arity is None:
                raise _at(RulePredicateError, f"No rule and no fact is called {name}.", literal.atom)
            if len(literal.atom.terms) != arity:
                raise _at(RulePredicateError, f"{name} takes {plural(arity, 'term')}.", literal.atom)
            if name in known:
                reads.add(name)
        _check_safety(rule)
        _check_keys(rule, known)
    components = _components(program, derived)
    strata = _strata(program, components)
    all_arities = {**{name: known[name].arity for name in reads}, **arities}
    return Checked(program, all_arities, frozenset(reads), components, strata)


def _at(kind: type[RuleError], message: str, atom: Atom) -> RuleError:
    return kind(message, atom.place.line, atom.place.column)


def _heads(program: Program, known: Mapping[str, Base]) -> dict[str, int]:
    arities: dict[str, int] = {}
    for rule in program.rules:
        name = rule.head.predicate
        if name in BUILTINS:
            raise _at(RulePredicateError, f"{name} is a comparison; no rule can define it.", rule.head)
        if name in known:
            raise _at(RulePredicateError, f"{name} is a base fact; no rule can define it.", rule.head)
        arity = arities.setdefault(name, len(rule.head.terms))
        if arity != len(rule.head.terms):
            raise _at(RulePredicateError, f"{name} takes {plural(arity, 'term')} in an earlier rule.", rule.head)
    return arities


def _check_builtin(literal: Literal) -> None:
    atom, name = literal.atom, literal.atom.predicate
    if literal.negated:
        raise _at(RulePredicateError, f"{name} is a comparison and cannot be negated; use its opposite.", atom)
    if len(atom.terms) != BUILTINS[name]:
        raise _at(RulePredicateError, f"{name} takes {plural(BUILTINS[name], 'term')}.", atom)
    if any(isinstance(term, Anonymous) for term in atom.terms):
        raise _at(RuleUnsafe, f"{name} cannot compare _, which is any value.", atom)
    if name in {"Prefix", "Suffix"} and not (
        isinstance(atom.terms[0], Variable) and isinstance(atom.terms[1], Constant)
    ):
        raise _at(RulePredicateError, f"{name} takes a variable and a constant.", atom)


def _check_safety(rule: Rule) -> None:
    bound: set[str] = set()
    for literal in rule.body:
        if not literal.negated and literal.atom.predicate not in BUILTINS:
            bound.update(literal.atom.variables)
    if any(isinstance(term, Anonymous) for term in rule.head.terms):
        raise _at(RuleUnsafe, f"The head {rule.head.predicate} holds _, which no literal binds.", rule.head)
    for atom in (rule.head, *(literal.atom for literal in rule.body)):
        for name in atom.variables:
            if name not in bound:
                raise _at(RuleUnsafe, f"The variable {name} of {atom.predicate} is bound by no positive literal.", atom)


def _check_keys(rule: Rule, known: Mapping[str, Base]) -> None:
    """Check that the first term of every keyed fact comes from elsewhere, so that nobody lists them all (FAC-14)."""
    atoms = [literal.atom for literal in rule.body if not literal.negated and literal.atom.predicate not in BUILTINS]
    keyed = [atom for atom in atoms if atom.predicate in known and known[atom.predicate].keyed]
    bound = {name for atom in atoms if atom not in keyed for name in atom.variables}
    waiting = keyed
    while waiting:
        ready = [atom for atom in waiting if _has_key(atom, bound)]
        if not ready:
            raise _unkeyed(waiting[0])
        bound.update(name for atom in ready for name in atom.variables)
        waiting = [atom for atom in waiting if atom not in ready]
    for literal in rule.body:
        name = literal.atom.predicate
        if literal.negated and name in known and known[name].keyed and not _has_key(literal.atom, bound):
            raise _unkeyed(literal.atom)


def _has_key(atom: Atom, bound: set[str]) -> bool:
    key = atom.terms[0]
    return isinstance(key, Constant) or (isinstance(key, Variable) and key.name in bound)


def _unkeyed(atom: Atom) -> RuleError:
    name = atom.predicate
    return _at(RuleUnsafe, f"{name} is answered for one record at a time; another literal must give its first.", atom)


def _read(rule: Rule) -> Iterator[Atom]:
    return (literal.atom for literal in rule.body if literal.atom.predicate not in BUILTINS)


def _components(program: Program, derived: set[str]) -> tuple[tuple[str, ...], ...]:
    """Group the derived predicates that depend on each other, in an order in which they can be computed.

    Tarjan's algorithm with a stack of its own: a program may chain as many predicates as it has rules.
    """
    edges: dict[str, list[str]] = {name: [] for name in sorted(derived)}
    for rule in program.rules:
        edges[rule.head.predicate] += [atom.predicate for atom in _read(rule) if atom.predicate in derived]
    for name, targets in edges.items():
        edges[name] = sorted(set(targets))
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_names: list[str] = []
    found: list[tuple[str, ...]] = []
    for root, first in edges.items():
        work = [(root, iter(first))] if root not in number else []
        if work:
            number[root] = low[root] = len(number)
            open_names.append(root)
        while work:
            name, targets_left = work[-1]
            target = next(targets_left, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    at = open_names.index(name)
                    found.append(tuple(sorted(open_names[at:])))
                    del open_names[at:]
            elif target not in number:
                number[target] = low[target] = len(number)
                open_names.append(target)
                work.append((target, iter(edges[target])))
            elif target in open_names:
                low[name] = min(low[name], number[target])
    return tuple(found)


def _strata(program: Program, components: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    level: dict[str, int] = {}
    rules: dict[str, list[Rule]] = {}
    for rule in program.rules:
        rules.setdefault(rule.head.predicate, []).append(rule)
    for component in components:
        members = set(component)
        literals = [literal for name in component for rule in rules[name] for literal in rule.body]
        for literal in literals:
            if literal.negated and literal.atom.predicate in members:
                raise _unstratified(rules, members, literal.atom)
        floor = 0
        for literal in literals:
            floor = max(
                floor, level.get(literal.atom.predicate, 0) + (literal.negated and literal.atom.predicate in level)
            )
        level.update(dict.fromkeys(component, floor))
    count = max(level.values(), default=-1) + 1
    return tuple(tuple(sorted(name for name, at in level.items() if at == n)) for n in range(count))


def _unstratified(rules: Mapping[str, list[Rule]], members: set[str], negated: Atom) -> RuleError:
    """Return the error for a negated atom of a cycle, with a shortest such cycle."""
    heads = [
        name
        for name in sorted(members)
        if any(
            literal.negated and literal.atom.predicate == negated.predicate
            for rule in rules[name]
            for literal in rule.body
        )
    ]
    start, goal = negated.predicate, heads[0]
    came: dict[str, tuple[str, str]] = {start: ("", "")}
    waiting = [start]
    for name in waiting:
        if name == goal:
            break
        for rule in rules[name]:
            for literal in rule.body:
                target = literal.atom.predicate
                if target in members and target not in came:
                    came[target] = (name, "not " if literal.negated else "")
                    waiting.append(target)
    path: list[str] = []
    step = goal
    while step != start:
        before, sign = came[step]
        path.append(sign + step)
        step = before
    shown = " -> ".join([goal, f"not {start}", *reversed(path)])
    return _at(RulesUnstratified, f"{goal} depends on its own negation: {shown}.", negated)
