"""What lace prints and where: standard output is data, standard error is talk.

With `--json` exactly one object goes to standard output (one a line for streaming verbs), in ASCII so that no
foreign name can reach a terminal alive. Errors are `{"error": {"code", "message", "hint"}}` there, and a
sentence on standard error (APP-14).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TextIO

from lace_tui.errors import OutputNotWritable
from lace_tui.words.inert import inert_lines
from vault.errors import LaceError

__all__ = ["Answer", "Output", "Paint", "ReaderGone", "as_json", "plain", "times"]


_OURS = frozenset({"vault", "transports", "lazy", "spark_export", "lace_tui"})


class ReaderGone(Exception):
    """Whoever read our output went away; nobody is left to tell."""


class Paint:
    """Colour as a second hint beside a sign or word, never the only one; off, it returns texts unchanged.

    Args:
        is_on: whether to write colour at all.
    """

    __slots__ = ("is_on",)

    def __init__(self, *, is_on: bool) -> None:
        self.is_on = is_on

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.is_on and text else text

    def good(self, text: str) -> str:
        """Paint what is well."""
        return self._wrap("36", text)

    def warn(self, text: str) -> str:
        """Paint what needs a person."""
        return self._wrap("33", text)

    def bad(self, text: str) -> str:
        """Paint what is broken."""
        return self._wrap("1;31", text)

    def strong(self, text: str) -> str:
        """Paint a heading."""
        return self._wrap("1", text)

    def faint(self, text: str) -> str:
        """Paint what matters less."""
        return self._wrap("2", text)


Text = str | Callable[[Paint], str]


class Answer(NamedTuple):
    """What a verb answers.

    Args:
        data: the JSON object; hashes, verifiers, TAI, paths and enumerations are turned into text by `plain`.
        text: the same for people, or a function that makes it; foreign strings in it went through `inert`.
        exit_code: 0, or 1 when a person is needed.
        told: called once the answer is out, for what is kept until then.
        is_declined: whether a person was asked, and said no.
    """

    data: Mapping[str, Any]
    text: Text = ""
    exit_code: int = 0
    told: Callable[[], object] = lambda: None
    is_declined: bool = False

    @classmethod
    def declined(cls, data: Mapping[str, Any], text: str) -> Answer:
        """Return what is answered where a person was asked and said no: nothing was done, so no script goes on."""
        return cls(data, text, exit_code=1, is_declined=True)


class Output:
    """The two streams of one command.

    Args:
        stdout: for data.
        stderr: for talk.
        json: answer in JSON.
        quiet: no talk but errors.
        verbose: more talk.
        paint: colour for texts on standard output.
    """

    def __init__(
        self,
        stdout: TextIO,
        stderr: TextIO,
        *,
        json: bool = False,
        quiet: bool = False,
        verbose: bool = False,
        paint: Paint | None = None,
    ) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.json = json
        self.quiet = quiet
        self.verbose = verbose
        self.paint = paint or Paint(is_on=False)
        self.leaves_out = False  # an answer that all went well, because quiet was asked for
        self.before_talk: Callable[[], None] = lambda: None

    def answer(self, answer: Answer) -> int:
        """Print an answer and return its exit code."""
        if self.json or answer.exit_code or not self.leaves_out:
            self.emit(answer.data, answer.text)
        answer.told()
        return answer.exit_code

    def emit(self, data: Mapping[str, Any], text: Text = "") -> None:
        """Print one object (a line of JSON) or its text; streaming verbs call it once for each line.

        Raises:
            OutputNotWritable: the disk that standard output goes to is full or fails.
            ReaderGone: nobody reads any more.
        """
        if self.json:
            line = as_json(data)
        else:
            line = text if isinstance(text, str) else text(self.paint)
            if not line:
                return
        self.before_talk()
        self._guarded(lambda: self._write_line(line))

    def write_bytes(self, data: bytes | bytearray | memoryview) -> None:
        """Print bytes as they are, for verbs that hand out bytes.

        Raises:
            OutputNotWritable, ReaderGone: as `emit`.
        """

        def write() -> None:
            self.stdout.flush()
            self.stdout.buffer.write(data)

        self._guarded(write)

    def flush(self) -> None:
        """Bring everything out.

        Raises:
            OutputNotWritable, ReaderGone: as `emit`.
        """
        self._guarded(self.stdout.flush)

    def say(self, sentence: str) -> None:
        """Tell the person something on standard error, unless they asked for quiet."""
        if not self.quiet:
            self._talk(sentence)

    def detail(self, sentence: str) -> None:
        """Tell the person something that only `-v` wants to know."""
        if self.verbose:
            self._talk(sentence)

    def error(self, error: LaceError) -> int:
        """Print an error in both forms and return its exit code."""
        return self.fault(error.code, error.message, error.hint, error.exit_code)

    def fault(self, code: str, message: str, hint: str, exit_code: int) -> int:
        """Print an error given in parts and return its exit code."""
        if self.json:
            self.emit({"error": {"code": code, "message": message, "hint": hint}})
        self._talk("\n".join(part for part in (message, hint) if part))
        return exit_code

    def _write_line(self, line: str) -> None:
        self.stdout.write(line if line.endswith("\n") else line + "\n")
        self.stdout.flush()

    def _guarded(self, write: Callable[[], object]) -> None:
        try:
            write()
        except BrokenPipeError as error:
            raise ReaderGone from error
        except OSError as error:
            from vault.files import reason_of  # what ends well needs no words for faults

            raise OutputNotWritable(f"The answer cannot be written: {reason_of(error)}.") from error

    def _talk(self, text: str) -> None:
        self.before_talk()
        try:
            self.stderr.write("\n".join(inert_lines(text.rstrip("\n"))) + "\n")
            self.stderr.flush()
        except OSError:  # nobody to talk to is no reason to fail
            return


def as_json(data: Mapping[str, Any]) -> str:
    """Return an object as the one line of JSON that `--json` prints."""
    import json  # people who read text need not wait for it

    # ASCII only: bidirectional overrides and control characters in names stay inert; JSON leaves DEL alone.
    return json.dumps(plain(data), ensure_ascii=True, allow_nan=False).replace("\x7f", "\\u007f")


def plain(value: Any) -> Any:  # noqa: PLR0911 - one line for each kind of value
    """Return the value as JSON can carry it.

    Anything with a `text` (hashes, verifiers, TAI) becomes that text; paths, enumerations and values whose class
    says how they are written (versions) become text; sets become sorted lists.

    Raises:
        TypeError: the value has no agreed form; that is a fault in a verb.
    """
    if value is None or isinstance(value, bool | int | float) or type(value) is str:
        return value
    if isinstance(text := getattr(value, "text", None), str):
        return text
    if isinstance(value, str):  # enumerations of text
        return str.__str__(value)
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    if type(value).__module__.split(".")[0] in _OURS and "__str__" in type(value).__dict__:
        return str(value)
    if isinstance(value, list | tuple):
        return [item if type(item) is str else plain(item) for item in value]  # a list of thousands is one of paths
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _key(key: object) -> str:
    name = plain(key)
    if not isinstance(name, str):
        raise TypeError(f"{type(key).__name__} cannot be a key in JSON")
    return name


def times(tai: Any) -> dict[str, str]:
    """Return a record's time in both forms, to be merged into an object: `tai`, and `time` as ISO 8601 UTC.

    Args:
        tai: a `vault.records.Tai`.
    """
    return {"tai": tai.text, "time": tai.to_utc_iso()}
