"""What the help of a verb says of its options: what holds where one is left out."""

from __future__ import annotations

from argparse import SUPPRESS

import pytest

from lace_tui.cli.frame import build_parser
from lace_tui.cli.verbs import VERBS
from tests.people import Person

_NONE = {"", SUPPRESS}
_WORKED_OUT = {
    ("init", "--name"): "(your login name)",
    ("accept", "--name"): "(as the invitation says, else your login name)",
    ("adopt", "--name"): "(as before)",
    ("revoke", "--last"): "(the last that is here)",
    ("place add", "--for"): "(for every member)",
    ("serve", "--rate"): "(no limit)",
    ("audit", "-n"): "(all)",
}


def test_the_help_of_every_option_says_its_default() -> None:
    """APP-14: where lace listens and how many revisions a prune leaves stood in the code alone."""
    missing = []
    for verb in VERBS:
        for action in build_parser(verb).actions:
            takes_one = action.nargs != 0 and isinstance(action.default, str | int) and action.default not in _NONE
            if takes_one and f"({action.default})" not in str(action.help):
                missing.append((verb.name, action.dest, action.default))
    assert missing == []


@pytest.mark.parametrize(("verb", "option"), _WORKED_OUT)
def test_what_is_worked_out_where_an_option_is_left_out_is_said(alice: Person, verb: str, option: str) -> None:
    """APP-14: a name, a last entry and a limit are nowhere else to be read before the command is given."""
    told = " ".join(alice.text("help", *verb.split()).split())
    assert _WORKED_OUT[verb, option] in told


@pytest.mark.parametrize("verb", ["place add", "join"])
def test_where_a_place_may_be_is_said_in_full(alice: Person, verb: str) -> None:
    """CYB-16: the help of both knew no friend who serves, and that of `join` nothing but directories."""
    told = " ".join(alice.text("help", *verb.split()).split())
    assert "a directory, for example on a stick, a git remote, or an https address" in told
