"""Docs cannot lie: the generated pages are what the code says (APP-14)."""

from __future__ import annotations

import re

import pytest

from lace_tui.cli.verbs import VERBS
from lace_tui.docs import pages
from lace_tui.tour import weave
from tests.people import ROOT


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_generated_page_is_up_to_date(name: str) -> None:
    """Run `python -m lace_tui.docs` when this fails."""
    assert (ROOT / "docs" / name).read_text("utf-8") == pages()[name]


def test_the_tour_of_the_readme_is_what_lace_prints() -> None:
    """The README's first page runs, from an empty directory to a shared folder (APP-1)."""
    readme = (ROOT / "README.md").read_text("utf-8")
    assert _without_sizes(readme) == _without_sizes(weave(readme))


def _without_sizes(text: str) -> str:
    """Bytes on the medium depend on the compressor's version."""
    return re.sub(r"[0-9.]+ (B|KiB|MiB) (read|written)", "SIZE", text)


def test_every_verb_in_the_readme_exists() -> None:
    """A README that names a verb which is gone would teach a mistake."""
    names = {verb.name.split()[0] for verb in VERBS}
    text = (ROOT / "README.md").read_text("utf-8")
    named = set(re.findall(r"(?:^|[`$ ])lace ([a-z]+)", text, re.MULTILINE))
    assert named <= names | {"shares", "itself", "needs", "keeps"}


def test_every_link_of_the_docs_leads_somewhere() -> None:
    """Relative links of README and docs name files that are there."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_decision_stands_in_the_index() -> None:
    """Under its subject, by its words and once."""
    text = (ROOT / "docs" / "decisions.md").read_text("utf-8")
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    found = re.findall(r"^\* \[(.+)\]\(#(.+)\)$", text, re.MULTILINE)
    assert sorted(words for words, _ in found) == sorted(heads)
    for words, anchor in found:
        assert anchor == re.sub("[^a-z0-9 -]", "", words.lower()).replace(" ", "-")
