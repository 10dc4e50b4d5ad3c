"""`lace rules` checks a program and tries it on facts (FAC-8, FAC-9, FAC-10, FAC-11)."""

from __future__ import annotations

from lazy.interlace.plan import GROUP_SHARED
from tests.people import Person

PATHS = """\
# who can reach whom
Reach(X,Y) :- Advertised(X,Y).
Reach(X,Z) :- Reach(X,Y), Advertised(Y,Z).
Alone(X) :- Advertised(X,_), not Reach(X,X).
"""
FACTS = "Advertised('a','b')\nAdvertised('b','a')\nAdvertised('it\\'s','a')\n"


def test_check_names_the_program_and_its_strata(alice: Person) -> None:
    """FAC-9, FAC-11."""
    alice.write("p.rules", PATHS.encode())
    answer = alice.lace("rules", "check", "p.rules")
    assert answer["strata"] == [["Reach"], ["Alone"]]
    told = "It negates: what it selects in a sync may depend on the order in which records came."
    assert alice.text("rules", "check", "p.rules") == f"{answer['id']}\n1  Reach\n2  Alone\n{told}\n"
    alice.write("q.rules", PATHS.replace("X", "From").replace("\n", "\n\n").encode())
    assert alice.lace("rules", "check", "q.rules")["id"] == answer["id"]
    alice.write("shared.rules", GROUP_SHARED.text.encode())
    assert alice.lace("rules", "check", "shared.rules")["id"] == GROUP_SHARED.id


def test_several_are_shown_as_the_one_that_selects_what_all_select(alice: Person) -> None:
    """FAC-20: composed into one before it is presented, in whichever order, and equal ones once."""
    alice.write("shared.rules", GROUP_SHARED.text.encode())
    alice.write("mine.rules", b"SelectHave(P) :- Have(P), Field(P,'App',_,'lace/release').\n")
    both = alice.lace("rules", "check", "shared.rules", "mine.rules", "shared.rules")
    assert both == alice.lace("rules", "check", "mine.rules", "shared.rules")
    assert "SelectHave(V0) :- M0SelectHave(V0), M1SelectHave(V0)." in both["program"].splitlines()
    assert alice.lace("rules", "check", "shared.rules", "shared.rules")["id"] == GROUP_SHARED.id
    told = alice.text("rules", "check", "mine.rules", "shared.rules")
    assert told.startswith(both["id"])
    assert told.endswith(both["program"])


def test_a_fault_has_its_place(alice: Person) -> None:
    """FAC-10: a wrong program is the caller's to mend."""
    alice.write("p.rules", b"A(X) :- Have(X).\nB(X) :- Here('x).\n")
    error = alice.lace("rules", "check", "p.rules", expect=2)["error"]
    assert error["code"] == "rules-syntax"
    assert error["message"].startswith("Line 2, column 14: ")
    alice.write("p.rules", b"A(X) :- Have(X), not A(X).")
    error = alice.lace("rules", "check", "p.rules", expect=2)["error"]
    assert (error["code"], "A -> not A" in error["message"]) == ("rules-unstratified", True)


def test_eval_on_given_facts_needs_no_vault(alice: Person) -> None:
    """FAC-8: tuples come out as fact lines, sorted."""
    alice.write("p.rules", PATHS.encode())
    alice.write("some.facts", FACTS.encode())
    words = ("rules", "eval", "p.rules", "--query", "Reach", "--facts", "some.facts")
    assert alice.text(*words) == (
        "Reach('a','a')\nReach('a','b')\nReach('b','a')\nReach('b','b')\nReach('it\\'s','a')\nReach('it\\'s','b')\n"
    )
    answer = alice.lace(*words[:4], "Alone", *words[5:])
    assert (answer["query"], answer["tuples"]) == ("Alone", [["it's"]])


def test_wrong_facts_and_queries_are_told(alice: Person) -> None:
    """FAC-6: facts are read as strictly as programs."""
    alice.write("p.rules", PATHS.encode())
    alice.write("bad.facts", b"Advertised('a','b')\nAdvertised('a')\n")
    words = ("rules", "eval", "p.rules", "--facts", "bad.facts", "--query")
    error = alice.lace(*words, "Reach", expect=2)["error"]
    assert (error["code"], "Line 2" in error["message"]) == ("rules-bad-fact", True)
    alice.write("bad.facts", b"")
    assert alice.lace(*words, "Gone", expect=2)["error"]["code"] == "rules-predicate"
    assert alice.lace(*words, "Reach")["tuples"] == []
    assert alice.lace("rules", "check", "gone", expect=13)["error"]["code"] == "file-missing"


def test_eval_on_the_vault_here(alice: Person) -> None:
    """FAC-2, FAC-8: record facts come from the stored records, and the vault is only read."""
    alice.lace("init", "--name", "alice")
    alice.write("notes.md", b"hello\n")
    alice.lace("release", "1.0.0", "-m", "first")
    alice.write(
        "p.rules",
        b"""\
Mine(P,V) :- Field(P,'App',_,'lace/release'), Shared(P), Field(P,'Signed-By',_,S), Here(S), Member(S),
    Field(P,'Name',_,V), Suffix(V,'/1.0.0').
Loose(P) :- Have(P), not Shared(P), Field(P,'App',_,A), Ne(A,'lace/audit').
""",
    )
    before = (alice.folder / ".vault" / "store.db").read_bytes()
    (found,) = alice.lace("rules", "eval", "p.rules", "--query", "Mine")["tuples"]
    assert found[1] == "main/1.0.0"
    assert alice.run("record", "show", found[0]).code == 0
    assert alice.text("rules", "eval", "p.rules", "--query", "Mine") == f"Mine('{found[0]}','main/1.0.0')\n"
    alice.lace("rules", "eval", "p.rules", "--query", "Loose")
    assert (alice.folder / ".vault" / "store.db").read_bytes() == before


def test_foreign_text_cannot_drive_the_terminal(alice: Person) -> None:
    """Values come from anybody's records."""
    alice.write("p.rules", b"A(X) :- Here(X).")
    alice.write("some.facts", "Here('\u202eabc')\n".encode())
    assert "\u202e" not in alice.text("rules", "eval", "p.rules", "--query", "A", "--facts", "some.facts")
