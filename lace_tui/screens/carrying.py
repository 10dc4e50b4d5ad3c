"""A file to mail or to carry: written for somebody or for all, and taken in after its plan (decision 5)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lace_tui.acts.typed import expanded
from lace_tui.screens.cards import Card, planned_card, sync_card
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.marks import BAD, GOOD, NOTE, STRONG, mark
from lace_tui.words.folder import sharing_note
from lace_tui.words.inert import inert
from lazy.results import HasAll
from lazy.visits.carry import apply_bundle, create_bundle, friends_steps
from vault.commands import as_option, as_typed
from vault.plural import bytes_text, plural

if TYPE_CHECKING:
    from lace_tui.screens.host import Refused
    from lace_tui.screens.place import PlaceScreen
    from lazy.results import PlaceResult
    from lazy.visits.carry import FriendsSteps
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = ["Written", "ask_file_for", "ask_file_of", "written_card"]


class Written(NamedTuple):
    """A file for a friend: what went into it, what is to be known of where it lies, and what the friend does."""

    result: PlaceResult
    path: Path
    note: str
    steps: FriendsSteps


def ask_file_for(asker: PlaceScreen, peer: str) -> None:
    """Ask where a file with what I share is to lie, and write it.

    Args:
        asker: the place that it was asked for in.
        peer: who it is for: what they have is left out; empty for everybody.
    """
    here, who = Path(asker.lace.here), peer or "everybody"
    text = (
        f"Which new file should hold what {who} may lack? Whoever has the file can read it; to let only members, type:"
    )
    text += " lace bundle create FILE --encrypt"

    def named(typed: str | None, refused: Refused) -> None:
        if not typed:
            return
        path = here / expanded(typed)

        def do(vault: Vault, watch: Watch) -> Written:
            made = create_bundle(vault, path, peer=peer or None, watch=watch)
            return Written(made, path, sharing_note(vault.folder.absolute(), path), friends_steps(vault, path))

        options = as_option("--for", peer) if peer else ""
        command = as_typed("bundle create", str(expanded(typed)), options=options)
        asker.lace.begin(f"A file for {inert(who)}", do, written_card, command, refused)

    asker.lace.put(Question(f"A file for {who}", text, f"~/for-{who}.lace"), named)


def written_card(made: Written) -> Card:
    """Return the card of a file for a friend: one that was written, or why none had to be."""
    result = made.result
    if isinstance(result.unmade, HasAll):
        return Card("A file: none was made", (mark(f"= {result.unmade.peer} has all that you share", GOOD),))
    count = plural(result.sent, "record")
    what = f"holds {count}, {bytes_text(result.traffic.bytes_written)}"
    if result.unmade is not None:
        what = f"lies there already, with the {count} that are to go"
    lines = [mark(f"= {made.path} {what}", GOOD)]
    lines += [mark(f"! {made.steps.first}", BAD)] if made.steps.first else []
    lines += [mark(f"your friend types: {made.steps.commands}")]
    lines += [mark(f"! {made.note}", BAD)] if made.note else []
    return Card(
        "A file: none was made" if result.unmade is not None else "A file: written",
        tuple(lines),
        bool(made.note or made.steps.first),
    )


def ask_file_of(asker: PlaceScreen) -> None:
    """Ask for a file that a friend made, say what would come with it, and take it in."""
    here = Path(asker.lace.here)

    def named(typed: str | None, refused: Refused) -> None:
        if typed:
            path = here / expanded(typed)
            asker.lace.begin(
                "A file: making the plan",
                lambda vault, watch: apply_bundle(vault, path, dry_run=True, watch=watch),
                lambda result: _planned(asker, path, result),
                refused=refused,
            )

    asker.lace.put(Question("Take in a file", "Which file did your friend make?"), named)


def _planned(asker: PlaceScreen, path: Path, plan: PlaceResult) -> None:
    command = as_typed("bundle apply", str(path))
    new = plural(plan.planned.records_to_receive if plan.planned else 0, "record")
    told = planned_card([plan], asker.lace.taste.keys).lines[1:-1]  # what is wrong with it
    lines = [mark(f"{path.name} brings {new} that you lack.", STRONG), *told, mark(command, NOTE)]

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            began = asker.lace.monotonic()
            asker.lace.begin(
                f"A file: {inert(path.name)}",
                lambda vault, watch: apply_bundle(vault, path, watch=watch, tells_held=True),
                lambda result: sync_card([result], asker.lace.monotonic() - began, asker.lace.taste.keys),
                command,
            )

    asker.lace.open_page(
        asker, "take-file", PlanPage(f"Take in {path.name}?", lines, "take it in", "leave it"), decided
    )
