"""The world as one command sees it: streams, flags, environment, clock, randomness, machine.

This is the only place that touches them; everything below gets them passed (architecture, section 3).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from lace_tui import __version__
from lace_tui.cli.output import Output, Paint
from lace_tui.cli.quick import MACHINE_ID, processors
from lace_tui.errors import BadPassphraseSource, FolderMissing

if TYPE_CHECKING:
    from lace_tui.acts.stopping import CancelToken
    from lace_tui.cli.progress import Progress
    from vault.surroundings import Surroundings
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = ["Context", "World"]

_MAKE_FOLDER = frozenset({"init", "accept"})  # verbs that make the folder which -C names
_MEDIA = tuple(map(Path, ("/media", "/run/media", "/mnt", "/Volumes")))
_PASSPHRASE_LIMIT = 4096  # bytes; a longer line is no passphrase but a wrong descriptor


class World:
    """Everything outside the process that lace may look at; tests hand in another one.

    Args:
        environ: environment variables.
        cwd: working directory.
        stdin: what is piped in.
        stdout: for data.
        stderr: for talk.
        now_ns: wall clock, nanoseconds since 1970 UTC.
        monotonic: seconds of a clock that never goes back.
        entropy: returns that many random bytes.
        sleep: waits that many seconds.
        free_bytes: bytes that may still be written where a path lies, or None when that cannot be told.
    """

    __slots__ = (
        "cwd",
        "entropy",
        "environ",
        "free_bytes",
        "monotonic",
        "now_ns",
        "sleep",
        "stderr",
        "stdin",
        "stdout",
    )

    def __init__(
        self,
        *,
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: TextIO | None = None,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
        now_ns: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], float] = time.monotonic,
        entropy: Callable[[int], bytes] = os.urandom,
        sleep: Callable[[float], None] = time.sleep,
        free_bytes: Callable[[Path], int | None] | None = None,
    ) -> None:
        self.environ = os.environ if environ is None else environ
        self.cwd = cwd
        self.stdin = stdin or sys.stdin
        self.stdout = stdout or sys.stdout
        self.stderr = stderr or sys.stderr
        self.now_ns = now_ns
        self.monotonic = monotonic
        self.entropy = entropy
        self.sleep = sleep
        self.free_bytes = free_bytes or _free_bytes

    def colour_allowed(self) -> bool:
        """Whether standard output may carry colour: a capable terminal, and nobody said no."""
        return self.stdout.isatty() and not self.environ.get("NO_COLOR") and self.environ.get("TERM", "dumb") != "dumb"


class Context:
    """What a verb's `run` gets: flags, folder, streams, and the way to its vault.

    Args:
        world: the outside.
        verb: full name of the verb, for example "record verify".
        directory: value of -C, or nothing.
        json: answer in JSON.
        quiet: no talk but errors.
        verbose: more talk.

    Raises:
        FolderMissing: the folder to work in does not exist.
    """

    def __init__(
        self,
        world: World,
        *,
        verb: str = "",
        directory: str = "",
        json: bool = False,
        quiet: bool = False,
        verbose: bool = False,
    ) -> None:
        self.world = world
        self.environ = world.environ
        self.verb = verb
        self.json = json
        self.quiet = quiet
        self.verbose = verbose
        self.cwd = self._folder(directory)
        self.output = Output(
            world.stdout,
            world.stderr,
            json=json,
            quiet=quiet,
            verbose=verbose,
            paint=Paint(is_on=not json and world.colour_allowed()),
        )
        self._passphrase: bytes | None = None
        self._token: CancelToken | None = None
        self._waited_for: set[str] = set()
        # Shortcuts that nearly every verb uses.
        self.say = self.output.say
        self.detail = self.output.detail
        self.emit = self.output.emit
        self.write_bytes = self.output.write_bytes
        self.now_ns = world.now_ns
        self.entropy = world.entropy

    def _folder(self, directory: str) -> Path:
        try:
            named = Path(directory).expanduser()
            folder = named if named.is_absolute() else (self.world.cwd or Path.cwd()) / named
        except RuntimeError as error:  # the home of nobody
            raise FolderMissing(f"There can be no folder {directory}: {str(error).rstrip('.')}.") from error
        except OSError as error:
            raise FolderMissing("The folder you are in no longer exists.") from error
        try:
            if folder.is_dir() or (self.verb in _MAKE_FOLDER and not folder.exists()):
                return folder
        except OSError as error:  # a name that is too long
            raise FolderMissing(f"There can be no folder {directory}: {str(error).rstrip('.')}.") from error
        raise FolderMissing(f"There is no folder {folder}.")

    def agrees(self, question: str) -> bool:
        """Ask a person, in the talk beside the answer; anything but yes is no."""
        self.output.before_talk()
        self.world.stderr.write(f"{question} [y/N] ")
        self.world.stderr.flush()
        answer = ""
        try:
            answer = self.world.stdin.readline()
        except ValueError:  # bytes that are no text
            return False
        finally:
            if not answer.endswith("\n"):  # Ctrl-D and Ctrl-C leave the cursor behind the question
                self.world.stderr.write("\n")
        return answer.strip().lower() in {"y", "yes"}

    # Terminal

    @property
    def is_terminal(self) -> bool:
        """Whether a person sits at all three streams of a capable terminal."""
        world = self.world
        return (
            world.stdin.isatty()
            and world.stdout.isatty()
            and world.stderr.isatty()
            and self.environ.get("TERM", "dumb") != "dumb"
        )

    def columns(self) -> int:
        """Return the terminal's width in cells; 80 where there is no terminal."""
        given = self.environ.get("COLUMNS", "")
        if given.isascii() and given.isdigit() and int(given):
            return int(given)
        for stream in (self.world.stdout, self.world.stderr):
            try:
                width = os.get_terminal_size(stream.fileno()).columns
            except (OSError, ValueError):
                continue
            if width:
                return width
        return 80

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """Show progress for the block, on a terminal's standard error only; wiped at the end."""
        from lace_tui.cli.progress import Progress  # most verbs end before a line is drawn

        stderr = self.world.stderr
        is_shown = stderr.isatty() and not self.quiet and not self.json and self.environ.get("TERM", "dumb") != "dumb"
        with Progress(stderr if is_shown else None, self.world.monotonic, self.columns) as progress:
            self.output.before_talk = progress.clear
            try:
                yield progress
            finally:
                self.output.before_talk = lambda: None

    @contextmanager
    def cancellable(self) -> Iterator[CancelToken]:
        """Turn Ctrl-C into a wish for the block: the first asks it to stop, the second stops it at once."""
        from lace_tui.acts.stopping import CancelToken

        def on_request() -> None:
            self.say("Stopping at the next safe point. Press Ctrl-C again to stop at once.")

        with CancelToken(on_request) as token:
            before, self._token = self._token, token
            try:
                yield token
            finally:
                self._token = before

    @contextmanager
    def watching(self) -> Iterator[Watch]:
        """Show progress and listen to Ctrl-C for a block of long work; pass the value down."""
        from vault.watch import Watch

        with self.progress() as progress, self.cancellable() as token:
            yield Watch(progress.report, token.check, progress.moved)

    # Places on this machine

    @property
    def data_root(self) -> Path:
        """Where keys, marks and the machine's identity lie: LACE_HOME, or this user's data folder."""
        if home := self.environ.get("LACE_HOME"):
            return Path(home).expanduser().absolute()
        _load_platformdirs()
        import platformdirs  # not where LACE_HOME is given

        return platformdirs.user_data_path("lace", appauthor=False)

    @property
    def config_root(self) -> Path:
        """Where this user's taste (theme, keys) lies: LACE_HOME, or this user's configuration folder."""
        if home := self.environ.get("LACE_HOME"):
            return Path(home).expanduser().absolute()
        _load_platformdirs()
        import platformdirs  # not where LACE_HOME is given

        return platformdirs.user_config_path("lace", appauthor=False)

    def find_vault(self) -> Path | None:
        """Return the nearest folder, here or above, that holds a `.vault`."""
        start = self.cwd.absolute()
        for folder in (start, *start.parents):
            if (folder / ".vault").is_dir():
                return folder
        return None

    def open_vault(self, *, mending: bool = False) -> Vault:
        """Open the vault of this folder; the caller closes it, best with `with`.

        Args:
            mending: to be checked or repaired.

        Raises:
            NoVault: there is none here or above.
        """
        from vault.vault import NoVault, Vault  # `lace help` needs no store

        folder = self.find_vault()
        if folder is None:
            raise NoVault(f"There is no vault in {self.cwd} or above.")
        return Vault(folder, self.surroundings(), mending=mending)

    def surroundings(self) -> Surroundings:
        """Return the world in the form the floors below take it."""
        from vault.surroundings import Surroundings

        return Surroundings(
            data_root=self.data_root,
            machine=self.machine(),
            host=self.host(),
            now_ns=self.now_ns,
            entropy=self.entropy,
            sleep=self._pause,
            passphrase=self.passphrase_source(),
            program=__version__,
            free_bytes=self.world.free_bytes,
            media=self.media(),
            processors=processors(),
            here=self.cwd.absolute(),
            waits=self._say_waiting,
        )

    def _pause(self, seconds: float) -> None:
        """Wait for another process, unless the person stopped that."""
        if self._token is not None:
            self._token.check()
        self.world.sleep(seconds)

    def _say_waiting(self, who: str, doing: str) -> None:
        """Say once what a command waits for, which else would look as if it hung."""
        if doing not in self._waited_for:
            self._waited_for.add(doing)
            self.say(f"Waiting for {who}, {doing}. Ctrl-C stops that.")

    def media(self) -> tuple[Path, ...]:
        """Where the system shows what is plugged in: LACE_MEDIA, or where systems do."""
        named = self.environ.get("LACE_MEDIA")
        return tuple(map(Path, named.split(os.pathsep))) if named is not None else _MEDIA

    # Machine and person

    def host(self) -> str:
        """Return this machine's name without its domain."""
        name = os.uname().nodename if hasattr(os, "uname") else self.environ.get("COMPUTERNAME", "")
        return name.split(".")[0] or "machine"

    def machine(self) -> str:
        """Return 32 hex characters that stay the same for this user on this machine.

        The system's machine id is hashed with the home folder, so it cannot be read back and two people who
        share a machine differ. Where the system has none, a random one is made and kept in the data root. A program
        may run lace in an environment without HOME: the home folder is then the one that the system knows, where
        keys are looked for too, and the machine is no other (APP-2).

        Raises:
            NotWritable, DiskFull: the made one cannot be kept.
        """
        from blake3 import blake3

        known = _first_line(Path(MACHINE_ID)) or self._own_machine_id()
        home = self.environ.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - Path.home raises where none is
        return blake3(f"lace machine\n{known}\n{home}".encode("utf-8", "surrogateescape")).hexdigest()[:32]

    def _own_machine_id(self) -> str:
        path = self.data_root / "machine-id"
        known = _first_line(path)
        if not known:
            from vault.files import make_directory, write_atomic

            make_directory(path.parent, 0o700)
            known = self.entropy(16).hex()
            write_atomic(path, known.encode() + b"\n", mode=0o600)
        return known

    def passphrase_source(self) -> Callable[[], bytes] | None:
        """Return how to get the key's passphrase: LACE_PASSPHRASE_FD, else the terminal, else None."""
        if "LACE_PASSPHRASE_FD" in self.environ:
            return self._passphrase_from_fd
        if self.world.stdin.isatty() and self.world.stderr.isatty():
            return self._passphrase_from_terminal
        return None

    def _passphrase_from_fd(self) -> bytes:
        if self._passphrase is None:
            text = self.environ["LACE_PASSPHRASE_FD"]
            try:
                with os.fdopen(int(text), "rb", closefd=False) as file:
                    line = file.readline(_PASSPHRASE_LIMIT)
            except (OSError, ValueError, OverflowError) as error:
                raise BadPassphraseSource(
                    f"LACE_PASSPHRASE_FD is {text!r}, which cannot be read as a descriptor."
                ) from error
            self._passphrase = line.rstrip(b"\r\n")
        return self._passphrase

    def _passphrase_from_terminal(self) -> bytes:
        from lace_tui.cli.secret import ask_secret  # most keys open without

        self.output.before_talk()
        try:
            return ask_secret("Passphrase of your key: ", self.world.stderr).encode()
        except EOFError as error:  # Ctrl-D
            from vault.identity.keys import KeyLocked

            raise KeyLocked("No passphrase was typed.") from error


def _load_platformdirs() -> None:
    """Load what names a user's folders, without most of what it would load: it makes no files and reads no settings."""
    from lace_tui.cli.loading import load_without  # not where LACE_HOME is given

    load_without("platformdirs", "configparser", "tempfile")


def _free_bytes(path: Path) -> int | None:
    from vault.files import free_bytes  # few commands write anything large

    return free_bytes(path)


def _first_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.readline(256).decode("ascii", "replace").strip()
    except OSError:
        return ""
