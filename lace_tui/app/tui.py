"""`lace tui`: the app on a terminal; `lace` alone opens it too (APP-1)."""

from __future__ import annotations

import argparse
import gc
import os
import select
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lace_tui.app.pausing import has_hung_up
from lace_tui.cli.context import Context
from lace_tui.errors import EXIT_CANCELLED
from vault.errors import CallerError

if TYPE_CHECKING:
    import asyncio

    from lace_tui.app.lace import LaceApp
    from vault.surroundings import Surroundings

__all__ = ["NoTerminal", "NotServed", "configure", "run"]

_GARBAGE = (50_000, 20, 20)  # a key waits for each look at the new objects, so there are more of them, each for less
_LOOK = 1.0  # seconds between two looks whether the terminal is still there
_STOPS = 60  # such looks that work which was asked to stop is waited for
_LEAVES = 5.0  # seconds that the app has to end without it


class NoTerminal(CallerError):
    """The app needs a person at a terminal."""

    code = "no-terminal"
    exit_code = 2
    hint = "See where you stand with: lace status"


class NotServed(CallerError):
    """The app is not shown in a browser (docs/decisions.md says why)."""

    code = "not-served"
    exit_code = 2
    hint = "Open it in a terminal with: lace tui - from elsewhere: ssh -t MACHINE lace -C FOLDER tui"


def configure(parser: argparse.ArgumentParser, _verb: str) -> None:
    """Add what the terminal may do."""
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    parser.add_argument("--serve", action="store_true", help="refused: a browser is not a safe place for it")


def run(context: Context, args: argparse.Namespace) -> int:
    """Open the app and return when the person leaves it.

    Raises:
        NotServed: somebody wants it in a browser.
        NoTerminal: one of the three streams is no terminal, or JSON was asked for.
        NotWritable, DiskFull: the machine's own identity cannot be kept.
    """
    if args.serve:
        raise NotServed("The app is not served to a browser: any web page open there could drive your vault.")
    if context.json or not context.is_terminal:
        raise NoTerminal("The app needs a terminal for input, output and errors.")
    app = _app_of(context)
    gc.set_threshold(*_GARBAGE)
    _show(app, mouse=not args.no_mouse)
    if app.wants_demo:
        from lace_tui.cli.frame import run as run_verb  # the frame imports this module

        return run_verb(["demo"], context.world)
    return app.return_code or 0


def _app_of(context: Context) -> LaceApp:
    """Return the app for the vault that a command finds, or for somebody who has none yet.

    Raises:
        NotWritable, DiskFull: as `run`.
    """
    from lace_tui.app.lace import LaceApp  # Textual takes longer to load than most verbs to run
    from lace_tui.keys.taste import read_taste

    def surroundings() -> Surroundings:
        from dataclasses import replace  # behind the first frame

        around = replace(context.surroundings(), waits=lambda _who, _doing: None)  # the header tells it
        # Nobody can type a passphrase into a terminal that the app draws on.
        return around if "LACE_PASSPHRASE_FD" in context.environ else replace(around, passphrase=None)

    def edit(path: Path) -> None:
        from lace_tui.cli.message import edit_file  # only who edits outside needs it

        edit_file(path, editor)

    if context.find_vault() is not None:  # what does not work here is told before the screen is taken
        context.machine()
        context.passphrase_source()
        called = ""
    else:
        from lace_tui.cli.who import login_name  # the first time only

        called = login_name(context)

    editor = (context.environ.get("VISUAL") or context.environ.get("EDITOR") or "").strip()
    return LaceApp(
        context.find_vault,
        surroundings,
        here=str(context.cwd.absolute()),
        called=called,
        monotonic=context.world.monotonic,
        taste=read_taste(context.config_root),
        config=context.config_root,
        edit=edit if editor else None,
    )


def _show(app: LaceApp, *, mouse: bool) -> None:
    """Lend the terminal to the app until the person leaves it, a signal ends it, or the terminal goes away."""
    import asyncio  # what refuses the app needs none of it

    from lace_tui.acts.stopping import asks_to_end

    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        with suppress(NotImplementedError):  # Windows has none
            for number in asks_to_end():
                # A handler of the loop: else the loop ends with the screen taken, and work goes on behind it.
                loop.add_signal_handler(number, app.leave, EXIT_CANCELLED)
        _leave_with_terminal(app, loop)
        app.run(mouse=mouse, loop=loop)


def _leave_with_terminal(app: LaceApp, loop: asyncio.AbstractEventLoop) -> None:
    """Have the app left where the terminal went away and no signal says so; what reads it would go round for ever."""
    if sys.__stdin__ is None or not hasattr(select, "poll"):  # as on Windows
        return
    terminal = sys.__stdin__.fileno()
    if not os.isatty(terminal):
        return

    def look() -> None:
        while not has_hung_up(terminal):
            time.sleep(_LOOK)
        with suppress(RuntimeError):  # the loop is over: the app was left anyhow
            loop.call_soon_threadsafe(app.leave, EXIT_CANCELLED)
        time.sleep(_LEAVES)
        for _ in range(_STOPS):
            if app.job is None or not app.job.token.is_set:
                break
            time.sleep(_LOOK)  # it was asked to stop, and ends what it started
        os._exit(EXIT_CANCELLED)  # it waits for who draws, who failed; what was stored stays, as after a kill

    # A thread: the loop itself may wait for ever to draw on what is gone.
    threading.Thread(target=look, name="lace-terminal", daemon=True).start()
