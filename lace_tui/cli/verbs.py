"""The one table of verbs: dispatch, help, documentation and tests all read it.

A verb is one line here and one module with two functions:

* `configure(parser, verb)` adds the verb's own arguments to an `argparse.ArgumentParser`;
* `run(context, args)` does the work and returns an `Answer`, or an exit code when it printed by itself.

Only the chosen verb's module is imported. A name may have two words ("record verify"); the longer name wins.
Nothing here may import anything that takes time: this module is read at every start.
"""

from __future__ import annotations

from lace_tui.cli.verb import FAMILIES, Verb

__all__ = ["FAMILIES", "VERBS", "Verb", "find_verb", "nearest", "sub_verbs"]

_BEGIN, _WORK, _SYNC, _LOOK, _ABOUT = FAMILIES
_CLI = "lace_tui.cli."

VERBS: tuple[Verb, ...] = (
    Verb(
        "init",
        _CLI + "begin",
        _BEGIN,
        "Begin a group: make this folder one that you can share.",
        "[--name N] [--group G]",
        examples=("lace init", "lace -C notes init --name alice --group band"),
    ),
    Verb("id", _CLI + "begin", _BEGIN, "Say who you are here, with the words to compare aloud."),
    Verb(
        "invite",
        _CLI + "begin",
        _BEGIN,
        "Print an invitation: one line that lets one person in, once.",
        "[NAME]",
        examples=("lace invite bob", "lace invite bob > for-bob.txt"),
    ),
    Verb(
        "accept",
        _CLI + "begin",
        _BEGIN,
        "Enter a group by an invitation, in an empty, new or filled folder.",
        "INVITE [--name N]",
        examples=("lace -C notes accept lace-invite-0:... --name bob",),
    ),
    Verb("members", _CLI + "begin", _BEGIN, "List who belongs to the group."),
    Verb("requests", _CLI + "begin", _BEGIN, "List who asked to belong and is not admitted."),
    Verb(
        "admit",
        _CLI + "begin",
        _BEGIN,
        "Admit somebody by hand; a proven invitation needs no hand.",
        "NAME [--key V]",
        examples=("lace admit bob",),
    ),
    Verb(
        "revoke",
        _CLI + "belonging",
        _BEGIN,
        "Say that somebody's log counts no further: a lost key, or a friend who left.",
        "NAME [--last SEQ] [-m WHY] [--dry-run] [--yes]",
        examples=("lace revoke bob --dry-run", 'lace revoke bob --last 12 -m "his laptop was stolen"'),
    ),
    Verb(
        "adopt",
        _CLI + "begin",
        _BEGIN,
        "Go on as a new node after this vault was copied or restored.",
        "[--name N]",
    ),
    Verb(
        "join",
        _CLI + "begin",
        _BEGIN,
        "Name a peer by key, with a place of its own; moves nothing.",
        "NAME URI --key V",
        examples=("lace join bob /media/stick/bob --key V.0123...H3",),
    ),
    Verb(
        "key protect",
        _CLI + "guarding",
        _BEGIN,
        "Let your key open with a passphrase only.",
        examples=("lace key protect",),
    ),
    Verb("key unprotect", _CLI + "guarding", _BEGIN, "Let your key open without a passphrase again."),
    Verb("leave", _CLI + "begin", _BEGIN, "Stop syncing with a peer; what came from it stays.", "NAME"),
    Verb(
        "peers",
        _CLI + "peers",
        _BEGIN,
        "List whom you sync with, or show what is known of one and what speaks against it.",
        "[NAME]",
        examples=("lace peers", "lace peers bob"),
    ),
    Verb(
        "place add",
        _CLI + "placing",
        _BEGIN,
        "Remember a place to meet, for example a folder on a stick.",
        "NAME URI [--for PEER] [--encrypt]",
        examples=("lace place add stick /media/stick/lace", "lace place add host git@host:us/lace.git --encrypt"),
    ),
    Verb(
        "place set",
        _CLI + "placing",
        _BEGIN,
        "Let only members read what you put on a place.",
        "NAME [--encrypt] [--rebase]",
        examples=("lace place set stick --encrypt", "lace place set stick --rebase"),
    ),
    Verb("place remove", _CLI + "placing", _BEGIN, "Forget a place; what lies there stays.", "NAME"),
    Verb("places", _CLI + "placing", _BEGIN, "List the places to meet."),
    Verb("drops", _CLI + "placing", _BEGIN, "List the drops that are plugged in, and whether they may be pulled out."),
    Verb("changes", _CLI + "work", _WORK, "Show what changed in the folder since the last commit.", "[DESK]"),
    Verb(
        "commit",
        _CLI + "work",
        _WORK,
        "Keep what changed, signed, with a message; it stays with you until a release.",
        "-m TEXT [--desk D] [--changes FILE] [PATH...]",
        examples=(
            'lace commit -m "new chorus"',
            'lace commit -m "only the notes" notes.md',
            'lace commit -m "as bob sent it" --changes bob.json',
        ),
    ),
    Verb(
        "release",
        _CLI + "work",
        _WORK,
        "Give what you have a version and share it; commits what changed first.",
        "[VERSION] [-m TEXT] [--desk D] [--yes] [--dry-run]",
        examples=("lace release", 'lace release 2.0.0 -m "autumn"', "lace release --yes", "lace release --dry-run"),
    ),
    Verb(
        "update",
        _CLI + "work",
        _WORK,
        "Bring friends' released work into the folder; what clashes waits for you.",
        "[DESK] [--from PEER[@VERSION]] [--dry-run]",
        examples=("lace update", "lace update --from bob@2.4.0", "lace update --dry-run"),
    ),
    Verb(
        "merge",
        _CLI + "merging",
        _WORK,
        "Merge any line into your desk by a strategy named beforehand.",
        "DESK --from [PEER/]DESK[@CASE] --strategy S [--dry-run]",
        examples=(
            "lace merge main --from bob/main --strategy mate",
            "lace merge main --from bob/main@2.4.0 --strategy fine",
        ),
    ),
    Verb(
        "log",
        _CLI + "reading",
        _WORK,
        "List what happened, newest first.",
        "[--desk D] [--node N] [-n K]",
        examples=("lace log -n 5", "lace log --node bob"),
    ),
    Verb(
        "cat",
        _CLI + "reading",
        _WORK,
        "Print a file as it is in any revision or release.",
        "DESK[@CASE] PATH",
        "bytes",
        ("lace cat main@1 notes.md", "lace cat bob/main@2.4.0 logo.png > logo.png"),
    ),
    Verb(
        "diff",
        _CLI + "reading",
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
        _CLI + "reading",
        _WORK,
        "Bring an older or a friend's state into the folder, or write a copy elsewhere.",
        "DESK@CASE [--to DIR]",
        examples=("lace checkout main@3", "lace checkout bob/main@2.4.0 --to ../look"),
    ),
    Verb(
        "archive",
        _CLI + "archiving",
        _WORK,
        "Write a state as one file that any system unpacks; equal for whoever writes it.",
        "DESK@CASE FILE",
        examples=("lace archive main@1.2.0 songs.tar.gz", "lace archive bob/main@2.4.0 ../bobs.tar.zst"),
    ),
    Verb(
        "read",
        _CLI + "waiting",
        _WORK,
        "Ask a line a question: u store, v desk, w number, x file, y shallow node, z full node.",
        "CARE [PEER/]DESK[@CASE] [PATH]",
        examples=("lace read v main", "lace --json read y bob/main@2.4.0 notes", "lace read w main@2026-05-01"),
    ),
    Verb(
        "watch",
        _CLI + "waiting",
        _WORK,
        "Wait for revisions: one line whenever the data at a path changed.",
        "[PEER/]DESK [PATH] [--from CASE] [--to CASE] [--at CASE]",
        "lines",
        ("lace watch bob/main notes.md", "lace --json watch main --from 1 --to 10", "lace watch bob/main --at 2.5.0"),
    ),
    Verb("desks", _CLI + "reading", _WORK, "List the desks of this vault, and those that only friends have."),
    Verb(
        "undo",
        _CLI + "undoing",
        _WORK,
        "Take back the last thing you did here, if nobody else can have it yet.",
        "[--dry-run]",
        examples=("lace undo --dry-run", "lace undo"),
    ),
    Verb(
        "desk add",
        _CLI + "reading",
        _WORK,
        "Make a sub-folder a desk of its own, with versions of its own; main leaves it alone from then on.",
        "NAME DIR",
        examples=("lace desk add lyrics words/lyrics",),
    ),
    Verb(
        "desk permit",
        _CLI + "permitting",
        _WORK,
        "Say who may write at a path of your desk, or who may read it: whose changes update takes in, who is sent it.",
        "PATH (--write | --read) (--only NAME... | --not NAME... | --anyone) [--desk D]",
        examples=(
            "lace desk permit docs --write --only alice bob",
            "lace desk permit private --read --not carol",
            "lace desk permit docs --write --anyone",
        ),
    ),
    Verb(
        "desk keep",
        _CLI + "letting",
        _WORK,
        "Say how many of everybody's newest releases keep their files at a path when you prune; without PATH, list it.",
        "[PATH N | PATH all] [--desk D]",
        examples=("lace desk keep videos 3", "lace desk keep videos all", "lace desk keep"),
    ),
    Verb(
        "fetch",
        _CLI + "letting",
        _WORK,
        "Ask the next sync for files of an old release whose content you let go of.",
        "DESK@CASE [PATH]",
        examples=("lace fetch main@1.0.0 videos/intro.mp4",),
    ),
    Verb(
        "desk permits",
        _CLI + "permitting",
        _WORK,
        "List your desk's rules about who may write and read where.",
        "[DESK]",
    ),
    Verb(
        "label",
        _CLI + "reading",
        _WORK,
        "Give your newest revision a name, once and for good.",
        "NAME [--desk D]",
        examples=("lace label rehearsal", "lace label rehearsal --desk lyrics"),
    ),
    Verb(
        "push",
        _CLI + "syncing",
        _SYNC,
        "Put what you share on a place, or on every place of a peer.",
        "NAME [--dry-run | --confirm | --estimate LINK]",
        examples=("lace push stick", "lace push bob --dry-run"),
    ),
    Verb(
        "pull",
        _CLI + "syncing",
        _SYNC,
        "Fetch what friends share from a place, or from every place of a peer.",
        "NAME [--desk D]... [--path P]... [--dry-run | --confirm | --estimate LINK]",
        examples=("lace pull stick", "lace pull bob --path lyrics/2024"),
    ),
    Verb(
        "sync",
        _CLI + "syncing",
        _SYNC,
        "Push and pull in one visit; without a name, to every place.",
        "[NAME...] [--all] [--desk D]... [--path P]... [--dry-run | --confirm | --estimate LINK] [--follow]",
        examples=(
            "lace sync stick",
            "lace sync --all",
            "lace sync bob --dry-run",
            "lace sync bob --estimate mobile",
            "lace sync home --follow",
            "lace sync home --desk main --path lyrics",
        ),
    ),
    Verb(
        "serve",
        _CLI + "serving",
        _SYNC,
        "Let friends sync with this vault over the network, until you stop it.",
        "[--listen HOST:PORT] [--address HOST:PORT] [--rate KB]",
        "lines",
        ("lace serve", "lace serve --listen 127.0.0.1:7433", "lace serve --address home.example.org:7433 --rate 500"),
    ),
    Verb(
        "bundle create",
        _CLI + "carrying",
        _SYNC,
        "Write what you share to one file, to mail or to carry.",
        "FILE [--for NAME] [--encrypt]",
        examples=("lace bundle create /tmp/for-bob.lace --for bob", "lace bundle create all.lace --encrypt"),
    ),
    Verb(
        "bundle apply",
        _CLI + "carrying",
        _SYNC,
        "Take in what friends wrote to a file, verified as on every road.",
        "FILE [--dry-run]",
        examples=("lace bundle apply /tmp/for-bob.lace",),
    ),
    Verb(
        "due",
        _CLI + "syncing",
        _SYNC,
        "Sync what the periodic strategy says is due; for cron.",
        examples=("lace due", "lace -q due"),
    ),
    Verb(
        "beacon",
        _CLI + "presence",
        _SYNC,
        "Say how you are and when to expect you, or show what a friend last said; it proves nothing.",
        "[NAME [--ask]] [--status S] [--next TEXT] [--off]",
        examples=("lace beacon --status away --next 'on Sunday'", "lace beacon bob", "lace beacon bob --ask"),
    ),
    Verb(
        "status",
        _CLI + "standing",
        _SYNC,
        "Say where you stand and whether anything needs you.",
        "[--tree]",
        examples=("lace status", "lace status --tree"),
    ),
    Verb("vectors", _CLI + "standing", _SYNC, "Show how far every log is known, here and to each peer."),
    Verb("queue", _CLI + "standing", _SYNC, "List what you shared that a peer has not confirmed."),
    Verb("links", _CLI + "links", _SYNC, "Say how far each peer's log came here, and yours there."),
    Verb(
        "conflicts",
        _CLI + "deciding",
        _SYNC,
        "List what disagrees, with every side of it.",
        "[--all] [--regions] [--drafts DIR]",
        examples=("lace conflicts", "lace conflicts --regions", "lace conflicts --drafts ../merge"),
    ),
    Verb(
        "resolve",
        _CLI + "deciding",
        _SYNC,
        "Decide a conflict: keep a side, release a merge, or accept what a friend decided.",
        "CONFLICT (--prefer SIDE | --merged VERSION [--path P [--region N] --take SIDE]... [--files DIR]"
        " | --accept [PROPOSER]) [--all] [--dry-run] [-m REASON]",
        examples=(
            "lace resolve 2.3.0 --prefer local",
            "lace resolve 2.3.0 --merged 2.3.0-merged -m both",
            "lace resolve 2.3.0 --merged 2.3.1 --path song.md --region 1 --take bob --region 2 --take both",
            "lace resolve 2.3.0 --merged 2.3.1 --files ../merge",
            "lace resolve --all --prefer local --dry-run",
        ),
    ),
    Verb(
        "audit",
        _CLI + "look",
        _LOOK,
        "Show what was done in this vault, or prove that the trail is whole.",
        "[list|verify] [--sexp] [--verb V] [--actor NAME] [--since DATE] [--until DATE] [-n K]",
        examples=(
            "lace audit",
            "lace audit verify",
            "lace audit list --verb seal-release",
            "lace audit list --since 2026-05-01 --until 2026-06-01",
        ),
    ),
    Verb(
        "fsck",
        _CLI + "look",
        _LOOK,
        "Check every record, signature, setting and view; make the views anew with --repair.",
        "[--repair]",
        examples=("lace fsck", "lace fsck --repair"),
    ),
    Verb(
        "prune",
        _CLI + "pruning",
        _LOOK,
        "Let go of the content of old commits that were never released; their messages and order stay.",
        "[--keep K] [--dry-run] [--yes]",
        examples=("lace prune --dry-run", "lace prune --keep 20 --yes"),
    ),
    Verb("config list", _CLI + "look", _LOOK, "List every setting, its value and what it does."),
    Verb("config get", _CLI + "look", _LOOK, "Say what a setting is.", "KEY", examples=("lace config get share",)),
    Verb(
        "config set",
        _CLI + "look",
        _LOOK,
        "Change a setting; without a value it has its default again.",
        "KEY [VALUE]",
        examples=("lace config set sync-strategy on-release", "lace config set sync-strategy"),
    ),
    Verb(
        "why",
        _CLI + "why",
        _LOOK,
        "Say what was decided about a record, by which rule, and what leads to it.",
        "HASH",
    ),
    Verb(
        "metrics",
        _CLI + "links",
        _LOOK,
        "Print numbers about this vault for a monitor, in the text format of Prometheus.",
        json="bytes",
        examples=("lace metrics > /var/lib/node_exporter/lace.prom",),
    ),
    Verb(
        "record show",
        _CLI + "records",
        _LOOK,
        "Hand out a record's bytes.",
        "HASH",
        "bytes",
    ),
    Verb(
        "record put",
        _CLI + "records",
        _LOOK,
        "Put the records of a file in, checked as carefully as in a sync.",
        "FILE",
        examples=("lace record put friends.records",),
    ),
    Verb(
        "record export",
        _CLI + "records",
        _LOOK,
        "Hand out records one after the other: what is shared, of one kind, what a release needs, or a range adds.",
        "SELECTOR",
        "bytes",
        examples=(
            "lace record export shared",
            "lace record export main@1.0.0",
            "lace record export bob/main@3..7",
            "lace record export lace/release",
        ),
    ),
    Verb(
        "record verify",
        _CLI + "verify",
        _LOOK,
        "Check stored records one by one, digests and signatures included.",
        "[FILE|-]",
        "lines",
        ("lace record verify friends.records", "lace --json record verify < friends.records"),
    ),
    Verb("quarantine", _CLI + "quarantine", _LOOK, "List what was refused, why, and what of it is kept."),
    Verb(
        "quarantine admit",
        _CLI + "quarantine",
        _LOOK,
        "Judge a refused record again, once its signer belongs.",
        "HASH",
    ),
    Verb(
        "quarantine drop",
        _CLI + "quarantine",
        _LOOK,
        "Throw away a refused record that is kept; it is not fetched again.",
        "HASH",
    ),
    Verb("rules check", _CLI + "rules", _LOOK, "Check a rule program and name it; run nothing.", "FILE"),
    Verb("rules eval", _CLI + "rules", _LOOK, "Try a rule program on facts.", "FILE --query PRED [--facts FILE]"),
    Verb(
        "export",
        _CLI + "exporting",
        _LOOK,
        "Write the history as tables that Spark, pandas and DuckDB read; only what is new is written again.",
        "DIR [--unshared] [--details] [--dry-run]",
        examples=("lace export history", "lace export /media/stick/history"),
    ),
    Verb(
        "report",
        _CLI + "exporting",
        _LOOK,
        "Ask the history of everybody's exports a question; without a name, list the questions.",
        "[NAME] [--input DIR...] [--master URL] [--remote URL] [--html FILE] [--csv FILE]",
        examples=("lace report", "lace report conflicts --input history", "lace report all --html history.html"),
    ),
    Verb(
        "tui",
        _CLI + "tui",
        _ABOUT,
        "Open the app on this terminal; lace alone does the same.",
        "[--no-mouse] [--serve]",
    ),
    Verb(
        "keys",
        _CLI + "keys",
        _ABOUT,
        "List what the app can do: keys, yours included, and the command for each.",
        examples=("lace keys", "lace --json keys"),
    ),
    Verb(
        "config path",
        _CLI + "about",
        _ABOUT,
        "Say where settings and keys lie.",
        examples=("lace config path", "lace --json config path"),
    ),
    Verb(
        "demo",
        _CLI + "demo",
        _ABOUT,
        "Tell the story of three people sharing one folder, with real commands on real files.",
        "[DIR] [--no-tui]",
        examples=("lace demo", "lace demo demo-folder --no-tui"),
    ),
    Verb(
        "errors",
        _CLI + "about",
        _ABOUT,
        "List every error with its code, exit code and way out.",
        examples=("lace errors", "lace --json errors"),
    ),
    Verb(
        "help",
        _CLI + "about",
        _ABOUT,
        "Explain lace, or one verb.",
        "[VERB]",
        examples=("lace help", "lace help errors"),
    ),
)


def find_verb(words: list[str]) -> tuple[Verb | None, int]:
    """Return the verb that the first one or two words name, and how many of them it took."""
    for count in (2, 1):
        name = " ".join(words[:count])
        for verb in VERBS:
            if len(words) >= count and verb.name == name:
                return verb, count
    return None, 0


def sub_verbs(word: str) -> list[Verb]:
    """Return the two-word verbs that begin with the word."""
    return [verb for verb in VERBS if verb.name.startswith(word + " ")]


def nearest(word: str) -> str:
    """Return the verb's name a mistyped word most likely meant, or nothing."""
    import difflib  # noqa: PLC0415 - only a mistake needs it

    names = [verb.name for verb in VERBS]
    close = difflib.get_close_matches(word, names, 1, 0.6)
    if not close and len(word) > 1:
        close = [name for name in names if name.startswith(word)][:1]
    return close[0] if close else ""
