"""The table's rows of verbs that meet friends and settle what came of it; all of it is in `verbs`."""

from __future__ import annotations

from lace_tui.cli.verb import FAMILIES, Verb

__all__ = ["SYNCING"]

_SYNC = FAMILIES[2]
_VERBS = "lace_tui.verbs."

SYNCING: tuple[Verb, ...] = (
    Verb(
        "push",
        _VERBS + "syncing",
        _SYNC,
        "Put what you share on a place, or on every place of a peer.",
        "NAME [--dry-run | --confirm | --estimate LINK]",
        examples=("lace push stick", "lace push bob --dry-run"),
        acts=True,
    ),
    Verb(
        "pull",
        _VERBS + "syncing",
        _SYNC,
        "Fetch what friends share from a place, or from every place of a peer.",
        "NAME [--desk D]... [--path P]... [--dry-run | --confirm | --estimate LINK]",
        examples=("lace pull stick", "lace pull bob --path lyrics/2024"),
        acts=True,
    ),
    Verb(
        "sync",
        _VERBS + "syncing",
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
        acts=True,
    ),
    Verb(
        "serve",
        _VERBS + "serving",
        _SYNC,
        "Let friends sync with this vault over the network, until you stop it.",
        "[--listen HOST:PORT] [--address HOST:PORT] [--rate KB]",
        "lines",
        ("lace serve", "lace serve --listen 127.0.0.1:7433", "lace serve --address home.example.org:7433 --rate 500"),
    ),
    Verb(
        "bundle create",
        _VERBS + "carrying",
        _SYNC,
        "Write what you share to one file, to mail or to carry.",
        "FILE [--for NAME] [--encrypt]",
        examples=("lace bundle create /tmp/for-bob.lace --for bob", "lace bundle create ../all.lace --encrypt"),
        acts=True,
    ),
    Verb(
        "bundle apply",
        _VERBS + "carrying",
        _SYNC,
        "Take in what friends wrote to a file, verified as on every road.",
        "FILE [--dry-run]",
        examples=("lace bundle apply /tmp/for-bob.lace",),
        acts=True,
    ),
    Verb(
        "due",
        _VERBS + "syncing",
        _SYNC,
        "Sync what the periodic strategy says is due; for cron.",
        examples=("lace due", "lace -q due"),
        acts=True,
    ),
    Verb(
        "beacon",
        _VERBS + "presence",
        _SYNC,
        "Say how you are and when to expect you, or show what a friend last said; it proves nothing.",
        "[NAME [--ask]] [--status S] [--next TEXT] [--off]",
        examples=("lace beacon --status away --next 'on Sunday'", "lace beacon bob", "lace beacon bob --ask"),
    ),
    Verb(
        "status",
        _VERBS + "overview",
        _SYNC,
        "Say where you stand and whether anything needs you.",
        "[--tree]",
        examples=("lace status", "lace status --tree"),
    ),
    Verb("vectors", _VERBS + "overview", _SYNC, "Show how far every log is known, here and to each peer."),
    Verb("queue", _VERBS + "overview", _SYNC, "List what you shared that a peer has not confirmed."),
    Verb("links", _VERBS + "links", _SYNC, "Say how far each peer's log came here, and yours there."),
    Verb(
        "conflicts",
        _VERBS + "conflicts",
        _SYNC,
        "List what disagrees, with every side of it.",
        "[--all] [--regions] [--drafts DIR]",
        examples=("lace conflicts", "lace conflicts --regions", "lace conflicts --drafts ../merge"),
    ),
    Verb(
        "resolve",
        _VERBS + "deciding",
        _SYNC,
        "Decide a conflict: keep a side, release a merge, or accept what a friend decided.",
        "CONFLICT (--prefer SIDE | --merged VERSION [--path P [--region N] --take SIDE]... [--files DIR]"
        " | --accept [PROPOSER] [--path P --take SIDE]...) [--all] [--yes] [--dry-run] [-m REASON]",
        examples=(
            "lace resolve 2.3.0 --prefer local",
            "lace resolve 2.3.0 --merged 2.3.0-merged -m both",
            "lace resolve 2.3.0 --merged 2.3.1 --path song.md --region 1 --take bob --region 2 --take both",
            "lace resolve 2.3.0 --merged 2.3.1 --files ../merge",
            "lace resolve --all --prefer local --dry-run",
        ),
        acts=True,
    ),
)
