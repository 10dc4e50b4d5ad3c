"""What can be wrong with a rule program, its facts, or an evaluation of it (FAC-9, FAC-12)."""

from __future__ import annotations

from vault.errors import CallerError, DataError, EnvironmentFault

__all__ = [
    "BadRuleFact",
    "RuleError",
    "RuleLimitExceeded",
    "RulePredicateError",
    "RuleSyntaxError",
    "RuleTooLarge",
    "RuleUnsafe",
    "RulesOutOfReach",
    "RulesUnstratified",
]


class RuleError(CallerError):
    """A rule program cannot be run as it is written.

    Args:
        message: what is wrong, as a full sentence without its place.
        line: line of the fault, from 1; 0 if it has no place.
        column: character of the line, from 1.
    """

    code = "rules-wrong"
    exit_code = 2
    hint = "Correct the program, and try it with: lace rules check FILE"

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        where = f"Line {line}, column {column}: " if line else ""
        super().__init__(where + message)
        self.line = line
        self.column = column


class RuleSyntaxError(RuleError):
    """A rule program is not written in the rule language."""

    code = "rules-syntax"


class RuleTooLarge(RuleError):
    """A rule program has more rules, literals, arguments or bytes than may be."""

    code = "rules-too-large"
    hint = "Split the program, or say the same with fewer rules."


class RulePredicateError(RuleError):
    """A rule program uses a predicate that does not exist, or in a way it cannot be used."""

    code = "rules-predicate"


class RuleUnsafe(RuleError):
    """A variable of a rule is not bound by any positive literal."""

    code = "rules-unsafe"
    hint = "Let the variable occur in a literal of the body that is neither negated nor a comparison."


class RulesUnstratified(RuleError):
    """A predicate depends on its own negation."""

    code = "rules-unstratified"
    hint = "Break the cycle: what a predicate negates must not depend on that predicate."


class BadRuleFact(CallerError):
    """A fact given for an evaluation is malformed or of the wrong kind."""

    code = "rules-bad-fact"
    exit_code = 2
    hint = "Facts are lines such as Advertised('P','S'), ended by LF, each once."


class RuleLimitExceeded(DataError):
    """An evaluation derives more than both sides agreed to allow."""

    code = "rules-over-limit"
    exit_code = 48
    hint = "Make the rules more selective; nothing of this evaluation was used."


class RulesOutOfReach(EnvironmentFault):
    """An evaluation needs more time or memory than this machine gives it."""

    code = "rules-out-of-reach"
    exit_code = 15
    hint = "Make the rules more selective; nothing of this evaluation was used."
