"""Finding a verb in the table by the words that somebody wrote."""

from __future__ import annotations

from lace_tui.cli import verbs
from lace_tui.cli.verb import Verb
from lace_tui.errors import UnknownVerb

__all__ = ["find_verb", "sub_verbs", "unknown"]

_NEVER_GUESSED = frozenset({"revoke"})  # it ends somebody's membership


def find_verb(words: list[str]) -> tuple[Verb | None, int]:
    """Return the verb that the first one or two words name, and how many of them it took."""
    for count in (2, 1):
        name = " ".join(words[:count])
        for verb in verbs.VERBS:
            if len(words) >= count and verb.name == name:
                return verb, count
    return None, 0


def sub_verbs(word: str) -> list[Verb]:
    """Return the two-word verbs that begin with the word."""
    return [verb for verb in verbs.VERBS if verb.name.startswith(word + " ")]


def unknown(words: list[str]) -> UnknownVerb:
    """Return what to say of words that name no verb: the word of another tool, or the verb that is nearest to them."""
    from lace_tui.cli.foreign import FOREIGN  # only a mistake needs it
    from vault.typed import shown

    told = f"There is no verb {shown(words[0])}."
    if words[0] in FOREIGN:
        return UnknownVerb(told, hint=f"In lace: {FOREIGN[words[0]]}")
    close = _nearest(" ".join(words[:2])) or _nearest(words[0])
    return UnknownVerb(f"{told} Did you mean {close!r}?" if close else told, hint=f"See: lace help {close}".rstrip())


def _nearest(word: str) -> str:
    """Return the verb's name a mistyped word most likely meant, or nothing; none that cannot be taken back."""
    import difflib  # only a mistake needs it

    names = [verb.name for verb in verbs.VERBS if verb.name not in _NEVER_GUESSED]
    close = difflib.get_close_matches(word, names, 1, 0.6)
    if not close and len(word) > 1:
        close = [name for name in names if name.startswith(word)][:1]
    return close[0] if close else ""
