"""The one table of verbs: dispatch, help, documentation and tests all read it.

A verb is one line here and one module with two functions:

* `configure(parser, verb)` adds the verb's own arguments to an `argparse.ArgumentParser`;
* `run(context, args)` does the work and returns an `Answer`, or an exit code when it printed by itself.

Only the chosen verb's module is imported. A name may have two words ("record verify"); the longer name wins.
Nothing here may import anything that takes time: this module is read at every start.
"""

from __future__ import annotations

from lace_tui.cli.verb import FAMILIES, Verb
from lace_tui.cli.verbs_looking import LOOKING
from lace_tui.cli.verbs_syncing import SYNCING

__all__ = ["VERBS"]

_BEGIN, _WORK, *_ = FAMILIES
_VERBS = "lace_tui.verbs."

VERBS: tuple[Verb, ...] = (
    Verb(
        "init",
        _VERBS + "begin",
        _BEGIN,
        "Begin a group: make this folder one that you can share.",
        "[--name N] [--group G]",
        examples=("lace init", "lace -C notes init --name alice --group band"),
        acts=True,
    ),
    Verb("id", _VERBS + "begin", _BEGIN, "Say who you are here, with the words to compare aloud."),
    Verb(
        "invite",
        _VERBS + "begin",
        _BEGIN,
        "Print an invitation: one line that lets one person in, once.",
        "[NAME]",
        examples=("lace invite bob", "lace invite bob > for-bob.txt"),
    ),
    Verb(
        "accept",
        _VERBS + "begin",
        _BEGIN,
        "Enter a group by an invitation, in an empty, new or filled folder.",
        "INVITE [--name N]",
        examples=("lace -C notes accept lace-invite-0:... --name bob",),
        acts=True,
    ),
    Verb("members", _VERBS + "begin", _BEGIN, "List who belongs to the group."),
    Verb(
        "requests", _VERBS + "asking", _BEGIN, "List who asked to belong and still waits.", "[--drop NAME|--drop-all]"
    ),
    Verb(
        "admit",
        _VERBS + "begin",
        _BEGIN,
        "Admit somebody by hand; a proven invitation needs no hand.",
        "NAME [--key V]",
        examples=("lace admit bob",),
        acts=True,
    ),
    Verb(
        "revoke",
        _VERBS + "belonging",
        _BEGIN,
        "Say that somebody's log counts no further: a lost key, or a friend who left.",
        "NAME [--last SEQ] [-m WHY] [--dry-run] [--yes]",
        examples=("lace revoke bob --dry-run", 'lace revoke bob --last 12 -m "his laptop was stolen"'),
        acts=True,
    ),
    Verb(
        "adopt",
        _VERBS + "adopting",
        _BEGIN,
        "Go on as a new node after this vault was copied or restored.",
        "[--name N] [--yes]",
        acts=True,
    ),
    Verb(
        "join",
        _VERBS + "peers",
        _BEGIN,
        "Name a peer by key, with a place of its own; moves nothing.",
        "NAME URI --key V",
        examples=("lace join bob /media/stick/bob --key V.0123...H3",),
        acts=True,
    ),
    Verb(
        "key protect",
        _VERBS + "guarding",
        _BEGIN,
        "Let your key open with a passphrase only.",
        examples=("lace key protect",),
        acts=True,
    ),
    Verb("key unprotect", _VERBS + "guarding", _BEGIN, "Let your key open without a passphrase again.", acts=True),
    Verb(
        "leave",
        _VERBS + "peers",
        _BEGIN,
        "Stop syncing with a peer, who stays a member; what came from it stays.",
        "NAME",
        acts=True,
    ),
    Verb(
        "peers",
        _VERBS + "peers",
        _BEGIN,
        "List whom you sync with, or show what is known of one and what speaks against it.",
        "[NAME]",
        examples=("lace peers", "lace peers bob"),
    ),
    Verb(
        "place add",
        _VERBS + "placing",
        _BEGIN,
        "Remember a place to meet, for example a folder on a stick.",
        "NAME URI [--for PEER] [--encrypt]",
        examples=("lace place add stick /media/stick/lace", "lace place add host git@host:us/lace.git --encrypt"),
        acts=True,
    ),
    Verb(
        "place set",
        _VERBS + "placing",
        _BEGIN,
        "Let only members read what you put on a place, or encrypt it all anew.",
        "NAME [--encrypt] [--rebase]",
        examples=("lace place set stick --encrypt", "lace place set stick --rebase"),
        acts=True,
    ),
    Verb("place remove", _VERBS + "placing", _BEGIN, "Forget a place; what lies there stays.", "NAME", acts=True),
    Verb("places", _VERBS + "placing", _BEGIN, "List the places to meet."),
    Verb(
        "drops", _VERBS + "placing", _BEGIN, "List the drops that are plugged in, and whether they may be pulled out."
    ),
    Verb("changes", _VERBS + "work", _WORK, "Show what changed in the folder since the last commit.", "[DESK]"),
    Verb(
        "commit",
        _VERBS + "work",
        _WORK,
        "Keep what changed, signed, with a message; it stays with you until a release.",
        "-m TEXT [--desk D] [--changes FILE | --keep-out [--dry-run]] [PATH...]",
        examples=(
            'lace commit -m "new chorus"',
            'lace commit -m "only the notes" notes.md',
            'lace commit -m "as bob sent it" --changes bob.json',
            'lace commit -m "mine alone" --keep-out local.cfg',
        ),
        acts=True,
    ),
    Verb(
        "release",
        _VERBS + "releasing",
        _WORK,
        "Give what you have a version and share it; commits what changed first.",
        "[VERSION] [-m TEXT] [--desk D] [--yes] [--dry-run]",
        examples=("lace release", 'lace release 2.0.0 -m "autumn"', "lace release --yes", "lace release --dry-run"),
        acts=True,
    ),
    Verb(
        "update",
        _VERBS + "updating",
        _WORK,
        "Bring friends' released work into the folder; what clashes waits for you.",
        "[DESK] [--from PEER[@VERSION]] [--dry-run]",
        examples=("lace update", "lace update --from bob@2.4.0", "lace update --dry-run"),
        acts=True,
    ),
    Verb(
        "merge",
        _VERBS + "merging",
        _WORK,
        "Merge any line into your desk by a strategy named beforehand.",
        "DESK --from [PEER/]DESK[@CASE] --strategy S [--dry-run]",
        examples=(
            "lace merge main --from bob/main --strategy mate",
            "lace merge main --from bob/main@2.4.0 --strategy fine",
        ),
        acts=True,
    ),
    Verb(
        "log",
        _VERBS + "log",
        _WORK,
        "List what happened, newest first, or who changed a file or folder and when.",
        "[--desk D] [--node N] [-n K] [PATH...]",
        examples=("lace log -n 5", "lace log --node bob", "lace log soup.md"),
    ),
    Verb(
        "cat",
        _VERBS + "reading",
        _WORK,
        "Print a file as it is in any revision or release.",
        "[PEER/]DESK[@CASE] PATH",
        "bytes",
        ("lace cat main@1 notes.md", "lace cat bob/main@2.4.0 logo.png > logo.png"),
    ),
    Verb(
        "diff",
        _VERBS + "diff",
        _WORK,
        "Show what differs between two revisions, or between the folder and its last commit.",
        "[A B [PATH]] [--changes]",
        examples=(
            "lace diff",
            "lace diff main@1 bob/main@2.4.0 notes.md",
            "lace diff main@1 main@2 --changes > what-i-did.json",
        ),
    ),
    Verb(
        "checkout",
        _VERBS + "checking_out",
        _WORK,
        "Bring an older or a friend's state into the folder, all or one path, or write a copy elsewhere.",
        "[PEER/]DESK[@CASE] [PATH [--keep-edits]] [--to DIR | --dry-run]",
        examples=(
            "lace checkout main@3",
            "lace checkout main soup.md",
            "lace checkout main soup.md --keep-edits",
            "lace checkout bob/main@2.4.0 --to ../look",
        ),
        acts=True,
    ),
    Verb(
        "archive",
        _VERBS + "archiving",
        _WORK,
        "Write a state as one file that any system unpacks; the same bytes, whoever writes it.",
        "[PEER/]DESK[@CASE] FILE",
        examples=("lace archive main@1.2.0 ../songs.tar.gz", "lace archive bob/main@2.4.0 ../bobs.tar.zst"),
        acts=True,
    ),
    Verb(
        "read",
        _VERBS + "waiting",
        _WORK,
        "Ask a line a question: u store, v desk, w number, x file, y shallow node, z full node.",
        "CARE [PEER/]DESK[@CASE] [PATH]",
        examples=("lace read v main", "lace --json read y bob/main@2.4.0 notes", "lace read w main@2026-05-01"),
    ),
    Verb(
        "watch",
        _VERBS + "waiting",
        _WORK,
        "Wait for revisions: one line whenever the data at a path changed.",
        "[PEER/]DESK [PATH] [--care C] [--from CASE] [--to CASE] [--at CASE]",
        "lines",
        ("lace watch bob/main notes.md", "lace --json watch main --from 1 --to 10", "lace watch bob/main --at 2.5.0"),
    ),
    Verb("desks", _VERBS + "desks", _WORK, "List the desks of this vault, and those that only friends have."),
    Verb(
        "undo",
        _VERBS + "undoing",
        _WORK,
        "Take back your last commit, update, merge, checkout or change of places; never what was shared or"
        " released. What nothing else here holds is kept as DESK@kept-N for a while.",
        "[--dry-run]",
        examples=("lace undo --dry-run", "lace undo"),
        acts=True,
    ),
    Verb(
        "desk add",
        _VERBS + "desks",
        _WORK,
        "Make a sub-folder a desk of its own, with versions of its own; main leaves it alone from then on.",
        "NAME DIR",
        examples=("lace desk add lyrics words/lyrics",),
        acts=True,
    ),
    Verb(
        "desk permit",
        _VERBS + "permitting",
        _WORK,
        "Say who may write at a path of your desk, or who may read it: whose changes update takes in, who is sent it.",
        "PATH (--write | --read) (--only NAME... | --not NAME... | --anyone) [--desk D]",
        examples=(
            "lace desk permit docs --write --only alice bob",
            "lace desk permit private --read --not carol",
            "lace desk permit docs --write --anyone",
        ),
        acts=True,
    ),
    Verb(
        "desk keep",
        _VERBS + "letting",
        _WORK,
        "Say how many of each member's newest releases keep files at a path when you prune; without PATH, list it.",
        "[PATH N | PATH all] [--desk D]",
        examples=("lace desk keep videos 3", "lace desk keep videos all", "lace desk keep"),
    ),
    Verb(
        "fetch",
        _VERBS + "letting",
        _WORK,
        "Ask the next sync for files of an old release whose content you let go of.",
        "[PEER/]DESK[@CASE] [PATH] [--cancel]",
        examples=("lace fetch main@1.0.0 videos/intro.mp4",),
        acts=True,
    ),
    Verb(
        "desk permits",
        _VERBS + "permitting",
        _WORK,
        "List your desk's rules about who may write and read where.",
        "[DESK]",
    ),
    Verb(
        "label",
        _VERBS + "desks",
        _WORK,
        "Give your newest revision a name, once and for good.",
        "NAME [--desk D]",
        examples=("lace label rehearsal", "lace label rehearsal --desk lyrics"),
        acts=True,
    ),
    *SYNCING,
    *LOOKING,
)
