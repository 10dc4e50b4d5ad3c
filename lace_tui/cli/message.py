"""The message of a commit: from the command line, or from the person's editor on a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from lace_tui.cli.context import Context
from vault.errors import CallerError, EnvironmentFault
from vault.files import read_bounded, reason_of, write_atomic
from vault.vault import Vault

__all__ = ["EditorFailed", "MessageNeeded", "edit_file", "message_from"]

_LIMIT = 1 << 20  # bytes of one message
_HELP = "\n# Say what you did and why. Lines that begin with # are left out; an empty message stops the commit.\n"


class MessageNeeded(CallerError):
    """A commit needs a message, and nobody gave one."""

    code = "message-needed"
    hint = "Say what you did: lace commit -m TEXT"


class EditorFailed(EnvironmentFault):
    """The person's editor did not do its work."""

    code = "editor-failed"
    exit_code = 19
    hint = "Set EDITOR to a program that edits the file it is given, or say it here: lace commit -m TEXT"


def message_from(context: Context, vault: Vault, given: str | None) -> str:
    """Return the message that was given, or what the person writes in their editor.

    Raises:
        MessageNeeded: there is none, and no terminal or no editor to write one.
        EditorFailed: the editor cannot be started, or ended with a failure.
    """
    editor = context.environ.get("EDITOR", "").strip()
    if given is None and editor and context.is_terminal and not context.json:
        given = _edited(vault.dot / "message.txt", editor)
    if given is None or not given.strip():
        raise MessageNeeded("A commit needs a message, and there is none.")
    return given.strip()


def edit_file(path: Path, editor: str) -> None:
    """Open a file in the person's editor and wait until they are done.

    Raises:
        EditorFailed: the editor cannot be started, or ended with a failure.
    """
    import shlex  # most messages stand on the command line
    import subprocess

    try:
        # The person chose this program in their own environment.
        process = subprocess.Popen([*shlex.split(editor), str(path)])  # noqa: S603
    except (OSError, ValueError) as error:
        why = reason_of(error) if isinstance(error, OSError) else error
        raise EditorFailed(f"The editor {editor} cannot be started: {why}.") from error
    with process, _keys_left_to_it():
        try:
            code = process.wait()
        except BaseException:  # lace is asked to end
            process.kill()
            raise
    if code:
        raise EditorFailed(f"The editor {editor} ended with {code}, so nothing was changed.")


@contextlib.contextmanager
def _keys_left_to_it() -> Iterator[None]:
    """Leave Ctrl-C, and the key that quits, to the program in front, which began with the usual handlers.

    They come to all that share the terminal, and would end lace behind its back.
    """
    import signal  # as above
    import threading

    if threading.current_thread() is not threading.main_thread():  # another one may not say what they do
        yield
        return
    numbers = [signal.SIGINT, *([signal.SIGQUIT] if hasattr(signal, "SIGQUIT") else [])]
    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _edited(path: Path, editor: str) -> str:
    write_atomic(path, _HELP.encode())
    try:
        edit_file(path, editor)
        text = read_bounded(path, _LIMIT).decode("utf-8", "replace")
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
    return "\n".join(line.rstrip() for line in text.splitlines() if not line.startswith("#"))
