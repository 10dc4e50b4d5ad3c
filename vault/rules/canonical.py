"""Canonical text of a program, and the identifier that follows from it (FAC-11, H-43).

Variables are called V0, V1, ... in the order of their first use in the rule, head first; one space stands after the
comma between literals and none inside atoms; rules are sorted by their UTF-8 bytes, each stands once and ends with LF.
So names of variables, order and repetition of rules, white space and comments never change an identifier.
"""

from __future__ import annotations

from vault.lacegram import module_id, quoted
from vault.rules.syntax import Atom, Constant, Literal, Program, Rule, Variable

__all__ = ["canonical_text", "program_id"]


def canonical_text(program: Program) -> str:
    """Return the program's one canonical text."""
    lines = {_rule(rule) for rule in program.rules}
    return "".join(f"{line}\n" for line in sorted(lines))  # text order is the order of the UTF-8 bytes


def program_id(program: Program) -> str:
    """Return the identifier `R.<43>` of a program, which is that of its canonical text."""
    return module_id(canonical_text(program))


def _rule(rule: Rule) -> str:
    names: dict[str, str] = {}
    head = _atom(rule.head, names)
    if not rule.body:
        return f"{head}."
    return f"{head} :- {', '.join(_literal(literal, names) for literal in rule.body)}."


def _literal(literal: Literal, names: dict[str, str]) -> str:
    return ("not " if literal.negated else "") + _atom(literal.atom, names)


def _atom(atom: Atom, names: dict[str, str]) -> str:
    terms = []
    for term in atom.terms:
        match term:
            case Constant(text):
                terms.append(quoted(text))
            case Variable(name):
                terms.append(names.setdefault(name, f"V{len(names)}"))
            case _:
                terms.append("_")
    return f"{atom.predicate}({','.join(terms)})"
