"""The verb `demo`: three people, one shared folder, every road, a merge and a conflict."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from pathlib import Path

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer
from lace_tui.errors import BadArguments
from vault.errors import CallerError

__all__ = ["DemoBroken", "configure", "run"]


class DemoBroken(CallerError):
    """A step of the demo ended otherwise than its story says."""

    code = "demo-broken"
    exit_code = 2
    hint = "This is a fault in lace: please report it with the lines above."


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    del verb
    parser.add_argument(
        "directory", nargs="?", metavar="DIR", help="a new or empty directory; a temporary one if absent"
    )
    parser.add_argument("--no-tui", action="store_true", help="do not open the app at the end")


def run(context: Context, args: argparse.Namespace) -> Answer | int:
    """Tell the story and, on a terminal, open the app in alice's folder."""
    from lace_tui.demo import DemoFailed, tell  # it imports the email package

    root = _directory(context, args.directory)
    quiet = context.json or context.quiet
    try:
        say = (lambda _: None) if quiet else (lambda line: context.emit({}, line or " "))
        story = tell(root, context.world, say, every_road=True)
    except DemoFailed as error:
        raise DemoBroken(str(error)) from error
    folders = {who: str(story.folder(who)) for who in ("alice", "bob", "cara")}
    answer = Answer(
        {
            "folder": str(root),
            "people": folders,
            "steps": [
                {"who": told.who, "command": told.command, "exit_code": told.code, "output": told.output}
                for told in story.told
            ],
            "equal": True,
        },
        f"Look around in {root}: each person's folder is under it, for example\n"
        f"  cd {shlex.quote(folders['alice'])} && {_as_alice(root)} {_lace()} log",
    )
    if args.no_tui or not context.is_terminal or context.json:
        return answer
    context.output.answer(answer)
    return _open_app(context, root)


def _lace() -> str:
    """Return how a shell starts the lace that runs: by its name where that is on the path, else where it lies."""
    if shutil.which("lace") is not None:
        return "lace"
    beside = Path(sys.executable).with_name("lace")
    return shlex.quote(str(beside)) if beside.exists() else f"{shlex.quote(sys.executable)} -m lace_tui"


def _as_alice(root: Path) -> str:
    """Return what a shell has to set so that commands are alice's: her machine too is told by her home folder."""
    home = root / "alice" / "home"
    return f"HOME={shlex.quote(str(home))} LACE_HOME={shlex.quote(str(home / 'lace'))}"


def _open_app(context: Context, root: Path) -> int:
    from lace_tui.cli.context import World
    from lace_tui.cli.frame import run as run_verb

    world = context.world
    home = root / "alice" / "home"
    inside = World(
        environ={**world.environ, "HOME": str(home), "LACE_HOME": str(home / "lace")},
        cwd=root / "alice" / "email",
        stdin=world.stdin,
        stdout=world.stdout,
        stderr=world.stderr,
    )
    return run_verb(["tui"], inside)


def _directory(context: Context, text: str | None) -> Path:
    if text is None:
        import tempfile

        return Path(tempfile.mkdtemp(prefix="lace-demo-"))
    root = context.cwd / Path(text).expanduser()
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise BadArguments(f"{root} is not an empty directory.", hint="Name a new one: lace demo DIR")
    root.mkdir(parents=True, exist_ok=True)
    return root
