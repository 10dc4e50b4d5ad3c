"""What was taken back is done again, after its plan (APP-1, APP-4)."""

from __future__ import annotations

from textual.pilot import Pilot

from lace_tui.app.lace import LaceApp
from lace_tui.model.deeds import new_place
from lace_tui.screens.dialogs import PlanPage
from lace_tui.screens.home import Home
from lace_tui.screenshots import Story
from lazy.address import resolve
from lazy.folder.desk_merge import merge_desk
from lazy.folder.undo import undo
from lazy.places.media import set_encrypted
from lazy.places.registry import is_encrypted, place_named, places
from tests.tui.conftest import in_turn, is_showing, page_of, press, settle, text_of
from vault.desks.strategies import Strategy
from vault.folder.kept_out import keep_out
from vault.folder.work import commit
from vault.revisions.history import commit_info, line_head

SIZE = (110, 34)


def _newest(story: Story) -> str:
    """Return the message of alice's newest commit."""
    with story.open("alice") as vault:
        head = line_head(vault.store, vault.node.text, "main")
        assert head is not None
        return commit_info(vault.store, head.commit).message


async def _is_taken_back_for_good(app: LaceApp, pilot: Pilot[None]) -> None:
    """Take the last act back; it is not offered again."""
    await in_turn(pilot, "U", "y")
    assert "is taken back" in text_of(app, "#card-text")
    assert "Z does it again" not in text_of(app, "#card-text")
    await press(pilot, "Z")
    assert is_showing(app, Home)


async def test_a_commit_that_was_taken_back_is_made_again(app: LaceApp, story: Story) -> None:
    """The page names redo; what `U` took back had to be typed anew."""
    with story.open("alice") as vault:
        story.write("alice", "plums.md", "one\n")
        commit(vault, "plums, and a cake", desk="main")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "Z")
        assert is_showing(app, Home)
        assert "Nothing was taken back" in str([note.message for note in app._notifications])
        await in_turn(pilot, "U", "y")
        assert _newest(story) != "plums, and a cake"
        assert "Z does it again" in text_of(app, "#card-text")
        await in_turn(pilot, "Z", "n")
        assert _newest(story) != "plums, and a cake"
        await press(pilot, "Z")
        assert is_showing(app, PlanPage)
        assert "plums, and a cake" in page_of(app)
        await press(pilot, "y")
        assert _newest(story) == "plums, and a cake"
        assert app._activity == ["lace undo", "lace commit -m 'plums, and a cake'"]
        await press(pilot, "Z")
        assert is_showing(app, Home), "it is done once"


async def test_a_file_is_kept_out_again(app: LaceApp, story: Story) -> None:
    """APP-4, CLAY-71: a commit of all that changed would not do it, for the folder is as what it stands on."""
    with story.open("alice") as vault:
        story.write("alice", "plums.md", "one\n")
        commit(vault, "plums", desk="main")
        story.write("alice", ".laceignore", "plums.md\n")
        keep_out(vault, "mine alone", ["plums.md"], desk="main")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await in_turn(pilot, "U", "y")
        assert "what it kept out is part of main again" in " ".join(text_of(app, "#card-text").split())
        assert _newest(story) == "plums"
        await press(pilot, "Z")
        assert "plums.md would be kept out again" in page_of(app)
        await press(pilot, "y")
        assert _newest(story) == "mine alone"
        assert app._activity == ["lace undo", "lace commit -m 'mine alone' --keep-out plums.md"]
        assert (story.folder("alice") / "plums.md").read_text() == "one\n"


async def test_a_place_comes_and_goes_again(app: LaceApp, story: Story) -> None:
    """A place that is not here now, encrypted, as it was."""
    with story.open("alice") as vault:
        set_encrypted(vault, place_named(vault, "office"))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await in_turn(pilot, "k", "x", "y")
        await in_turn(pilot, "U", "y", "Z")
        assert "office would no longer be a place" in page_of(app)
        await press(pilot, "y")
        with story.open("alice") as vault:
            assert [place.name for place in places(vault)] == ["stick"]
        await in_turn(pilot, "U", "y")
        with story.open("alice") as vault:
            assert is_encrypted(vault, place_named(vault, "office"))


async def test_a_new_place_is_named_again_as_it_was(app: LaceApp, story: Story) -> None:
    from lazy.places.adding import add_place

    with story.open("alice") as vault:
        add_place(vault, "attic", str(story.root / "attic"), cwd=story.root, peer="bob")
        before = place_named(vault, "attic")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await in_turn(pilot, "U", "y")
        with story.open("alice") as vault:
            assert "attic" not in [place.name for place in places(vault)]
        await in_turn(pilot, "Z", "y")
        with story.open("alice") as vault:
            assert place_named(vault, "attic") == before


async def test_an_update_is_planned_again(app: LaceApp, story: Story) -> None:
    prices = story.folder("alice") / "prices.md"
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await in_turn(pilot, "u", "y")
        assert prices.exists()
        await in_turn(pilot, "U", "y")
        assert not prices.exists()
        await in_turn(pilot, "Z", "y")
        assert prices.exists()


async def test_what_was_done_since_is_not_gone_over(app: LaceApp, story: Story) -> None:
    """Somebody else may have committed since, and then it would be another act."""
    with story.open("alice") as vault:
        story.write("alice", "plums.md", "one\n")
        commit(vault, "plums", desk="main")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await in_turn(pilot, "U", "y")
        with story.open("alice") as vault:
            commit(vault, "other words", desk="main")
        await in_turn(pilot, "Z", "y")
        assert _newest(story) == "other words"
        assert "Something else was done here" in text_of(app, "#card-text")


async def test_a_commit_of_some_files_is_not_made_again_of_all(app: LaceApp, story: Story) -> None:
    """APP-4: what lies in the folder besides was no part of it, and would be under its words."""
    story.write("alice", "plums.md", "one\n")
    story.write("alice", "pears.md", "not done yet\n")
    with story.open("alice") as vault:
        commit(vault, "plums", ("plums.md",), desk="main")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await _is_taken_back_for_good(app, pilot)


async def test_another_act_of_the_same_number_is_not_taken_back(app: LaceApp, story: Story) -> None:
    """APP-4: what was shown was one commit; another terminal took it back, and made another of its number."""
    with story.open("alice") as vault:
        story.write("alice", "plums.md", "one\n")
        commit(vault, "plums", desk="main")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "U")
        assert is_showing(app, PlanPage)
        with story.open("alice") as vault:
            undo(vault)
            commit(vault, "other words", desk="main")
        await press(pilot, "y")
        assert _newest(story) == "other words"
        assert "Something else was done here meanwhile" in text_of(app, "#card-text")


async def test_a_merge_by_a_strategy_is_no_update(app: LaceApp, story: Story) -> None:
    """APP-4: redo would have been an update, which takes in all that friends released, and merges it otherwise."""
    with story.open("alice") as vault:
        merge_desk(vault, "main", resolve(vault, "bob/main"), Strategy.ONLY_THAT)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await _is_taken_back_for_good(app, pilot)


async def test_a_new_place_is_named_again_as_encrypted_as_it_was(app: LaceApp, story: Story) -> None:
    """CYB-15: what goes there was meant for members alone, and would lie there in plain."""
    with story.open("alice") as vault:
        new_place(vault, "attic", str(story.root / "attic"), story.root, peer="bob", is_sealed=True)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await in_turn(pilot, "U", "y", "Z")
        assert f"lace place add attic {(story.root / 'attic').as_uri()} --for bob --encrypt" in page_of(app)
        await press(pilot, "y")
        with story.open("alice") as vault:
            assert is_encrypted(vault, place_named(vault, "attic"))


async def test_every_place_takes_back_and_does_again(app: LaceApp) -> None:
    """APP-1, APP-4: `U` and `Z` worked on Home alone, and elsewhere they did nothing and said nothing."""
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "5", "U")
        assert is_showing(app, PlanPage)
        assert "office would no longer be a place" in page_of(app)
        await press(pilot, "y", "4")
        assert "office" not in str(app.reach)
        await press(pilot, "Z")
        assert is_showing(app, PlanPage)
        assert "office would be a place again" in page_of(app)
        await press(pilot, "y")
        assert app.card is not None
        assert app.card.title == "Redo: done"
        await press(pilot, "2", "enter", "U", "y", "Z")
        assert is_showing(app, PlanPage), "from a conflict that is open too"
