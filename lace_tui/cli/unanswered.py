"""What a command does with an act of which nobody was told: it answers once, then the note of it goes (APP-13).

What is noted of an act, and when it still stands, is `lazy.folder.unanswered`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer
from vault.vault import Vault

__all__ = ["answered_once", "let_go_once_told"]


def answered_once(context: Context, act: Callable[[Vault], Answer]) -> Answer:
    """Return the answer of an act that noted itself (`lazy.folder.unanswered`); once it is out, the note goes.

    Where a person said no to it nothing was noted: what is there is an earlier act's.
    """
    with ExitStack() as stack:
        vault = stack.enter_context(context.open_vault())
        answer = act(vault)
        return answer if answer.is_declined else let_go_once_told(context, vault, answer, stack)


def let_go_once_told(context: Context, vault: Vault, answer: Answer, stack: ExitStack) -> Answer:
    """Return the answer, with which the note of an act goes once it is out, and then what is on the stack ends."""
    still_open = stack.pop_all()  # opening it again would cost more than all that is left to do

    def told() -> None:
        from lazy.folder.unanswered import forget_answer  # after a dry run there is nothing to forget

        with still_open:
            forget_answer(vault, context.verb)

    return answer._replace(told=told)
