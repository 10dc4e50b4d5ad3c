"""Lace-030: the rule language and its engine. Programs of rules over record facts, checked, named and run in bounds.

| module | holds |
|---|---|
| `syntax`, `parse`, `canonical`, `compose` | a program as values, read from text, as canonical text, several as one |
| `check`, `predicates` | what a program may say, and of what |
| `module` | a program as a policy of an exchange |
| `facts`, `headers`, `visible` | where facts come from, and which may be seen |
| `evaluate`, `incremental`, `pool` | running a program once, or again with what is new |
| `engine`, `sql`, `units`, `tables`, `constants`, `statistics` | how it runs: rules as SQL over tables |
| `guard`, `limits`, `errors` | the bounds of a run, and what can be wrong |

>>> from vault.rules import TupleFacts, check, evaluate, parse_program
>>> program = check(parse_program("SelectHave(P) :- Have(P), Field(P,'App',_,A), Prefix(A,'lace/')."))
>>> facts = TupleFacts({"Have": [("S.1",)], "Field": [("S.1", "App", "0", "lace/rev")]})
>>> sorted(evaluate(program, facts)["SelectHave"])
[('S.1',)]
"""

from __future__ import annotations

from vault.rules.canonical import canonical_text, program_id
from vault.rules.check import Checked, check
from vault.rules.evaluate import evaluate
from vault.rules.facts import FactSource, StoreFacts, TupleFacts, View, format_facts, parse_facts
from vault.rules.incremental import Incremental
from vault.rules.limits import Limits
from vault.rules.module import RuleModule, compile_module
from vault.rules.parse import parse_program
from vault.rules.pool import ConnectionPool
from vault.rules.predicates import BASE, Base
from vault.rules.syntax import Program

__all__ = [
    "BASE",
    "Base",
    "Checked",
    "ConnectionPool",
    "FactSource",
    "Incremental",
    "Limits",
    "Program",
    "RuleModule",
    "StoreFacts",
    "TupleFacts",
    "View",
    "canonical_text",
    "check",
    "compile_module",
    "evaluate",
    "format_facts",
    "parse_facts",
    "parse_program",
    "program_id",
]
