"""How people of a walk meet on a stick, and differ."""

from __future__ import annotations

from tests.people import Person


def let_in(first: Person, *friends: Person) -> None:
    """Let friends into the group of the first, one after the other, and have them take what was released."""
    for friend in friends:
        line = first.lace("invite", friend.name)["invite"]
        first.lace("sync", "stick")
        friend.lace("accept", line)
        first.lace("sync", "stick")
        friend.lace("sync", "stick")
        friend.lace("update")


def meet(*people: Person) -> None:
    """Everybody syncs, twice over, so that all know all."""
    for _ in range(2):
        for person in people:
            person.run("sync", "stick")


def differ(*people: Person) -> None:
    """Everybody releases a file of their own under one name and one version."""
    for person in people:
        person.write("a.txt", f"{person.name}\n")
        person.lace("release", "2.0.0")


def text_of(person: Person, name: str) -> str:
    """Return what a file of somebody holds."""
    return (person.folder / name).read_text()
