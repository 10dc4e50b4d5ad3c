"""From argv to exit code: global options, the verb, its parser, its answer, and every way it can fail."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from lace_tui import __version__
from lace_tui.cli.context import Context, World
from lace_tui.cli.naming import find_verb, sub_verbs, unknown
from lace_tui.cli.output import Answer, Output, ReaderGone
from lace_tui.cli.verb import Verb
from lace_tui.cli.verbs import VERBS
from lace_tui.errors import EXIT_BUG, EXIT_CANCELLED, EXIT_PIPE_CLOSED, BadArguments, OutputNotWritable, UnknownVerb
from lace_tui.words.inert import typed
from vault.errors import LaceError

__all__ = ["HelpAsked", "Parser", "build_parser", "parsed", "run"]

_SAID = ("message", "reason")  # where verbs take what is said to people
_AS_UTF_8 = "Type it anew: the terminal or program that it came from writes another encoding."

_NAMED_SO = "\0--"  # stands for a file that is named by two dashes: argparse drops them once for each argument


class HelpAsked(Exception):
    """Somebody wrote -h or --help."""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises lace's own errors and never prints or exits."""

    def error(self, message: str) -> NoReturn:
        """Raise `BadArguments` as a sentence that names the verb."""
        from lace_tui.cli.wording import plain  # most commands are typed as they should be

        raise BadArguments(f"{self.prog}: {plain(message)}.", hint=f"See: lace help {self.prog.removeprefix('lace ')}")

    @property
    def actions(self) -> Sequence[argparse.Action]:
        """What the verb takes, as options and as words."""
        return self._actions

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        return super()._get_value(action, "--" if arg_string == _NAMED_SO else arg_string)

    def no_option(self, words: Sequence[str]) -> str:
        """Return the first word with one dash that is no option, as a name or path may be; empty when there is none."""
        known = {name for action in self._actions for name in action.option_strings}
        return next((w for w in words if w[:1] == "-" and w[1:2] not in {"", "-"} and w[:2] not in known), "")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Raise `HelpAsked`: argparse leaves on its own only after printing help."""
        raise HelpAsked(message or "")


class _AskHelp(argparse.Action):
    def __call__(self, *_: Any, **__: Any) -> None:
        raise HelpAsked


class _Flags:
    """Global options, wherever they stood."""

    __slots__ = ("directory", "help", "json", "quiet", "verbose", "version")

    def __init__(self) -> None:
        self.directory = ""
        self.json = self.quiet = self.verbose = self.help = self.version = False

    def take(self, args: argparse.Namespace) -> None:
        """Move the global options out of a verb's arguments."""
        self.json |= args.__dict__.pop("global_json", False)
        self.quiet |= args.__dict__.pop("global_quiet", False)
        self.verbose |= args.__dict__.pop("global_verbose", False)
        if directory := args.__dict__.pop("global_directory", ""):
            self.directory = os.path.join(self.directory, directory)  # noqa: PTH118 - plain text until checked

    def context(self, world: World, verb: str) -> Context:
        """Return the context these options ask for."""
        return Context(
            world,
            verb=verb,
            directory=self.directory,
            json=self.json,
            quiet=self.quiet,
            verbose=self.verbose,
        )


def build_parser(verb: Verb, columns: int = 80) -> Parser:
    """Return the whole parser of one verb; imports that verb's module."""
    parser = Parser(
        prog=f"lace {verb.name}",
        usage=f"lace {verb.name} {verb.arguments}".rstrip(),
        description=verb.sentence,
        epilog="examples:\n" + "\n".join(f"  {line}" for line in verb.examples) if verb.examples else None,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=min(columns, 100)),
        add_help=False,
        allow_abbrev=False,
    )
    import_module(verb.module).configure(parser, verb.name)
    group = parser.add_argument_group("everywhere")
    off = argparse.SUPPRESS
    group.add_argument("-C", dest="global_directory", metavar="DIR", default=off, help="work in that folder")
    group.add_argument(
        "--json",
        dest="global_json",
        action="store_true",
        default=off,
        help="answer in JSON on standard output",
    )
    group.add_argument(
        "-q", "--quiet", dest="global_quiet", action="store_true", default=off, help="say nothing when all went well"
    )
    group.add_argument("-v", "--verbose", dest="global_verbose", action="store_true", default=off, help="say more")
    group.add_argument("-h", "--help", action=_AskHelp, nargs=0, default=off, help="explain this verb")
    return parser


def run(argv: Sequence[str], world: World) -> int:
    """Run one command and return its exit code; nothing is ever raised, not even for a bug."""
    flags = _Flags()
    # Until the options are parsed, an error must already come in the form that was asked for.
    options = argv[: list(argv).index("--")] if "--" in argv else argv
    output = Output(world.stdout, world.stderr, json="--json" in options)
    try:
        try:
            code = _run(list(argv), world, flags)
            output.flush()
        except (OutputNotWritable, ReaderGone):
            raise
        except LaceError as error:
            code = output.error(error)
        except (Exception, KeyboardInterrupt) as error:  # the one place where a bug ends
            if _is_stop(error):
                code = output.fault("cancelled", "Stopped.", "What was stored before stays.", EXIT_CANCELLED)
            elif isinstance(error, UnicodeEncodeError) and (torn := _torn(argv)) is not None:
                # A file may have such a name; nothing that records or the store name can.
                told = BadArguments(f"lace: {torn!r} is not text in UTF-8, so nothing here is called that.")
                code = output.error(told)
            elif (limit := _at_limit(error)) is not None:
                code = output.error(limit)
            else:
                code = _report_bug(output, error, is_verbose=flags.verbose or bool(world.environ.get("LACE_DEBUG")))
    except ReaderGone:
        _give_up_on(world)
        code = EXIT_PIPE_CLOSED
    except OutputNotWritable as error:  # only standard error is left to say it on
        _give_up_on(world)
        output.json = False
        code = output.error(error)
    return code


def _run(argv: list[str], world: World, flags: _Flags) -> int:
    words = _take_globals(argv, flags)
    if flags.version:
        return flags.context(world, "").output.answer(Answer({"version": __version__}, f"lace {__version__}"))
    if flags.help:
        words.insert(0, "help")
    if not words:
        words = _default(flags, world)
    verb, rest = _find(words, flags)
    context_name = verb.name
    parser = build_parser(verb)
    try:
        args = _parse(parser, rest)
    except HelpAsked:
        verb, context_name = _named("help"), "help"
        args = argparse.Namespace(words=parser.prog.split()[1:])
        flags.json |= "--json" in rest
    else:
        if any(word[-1:] in {"", "="} for word in rest):
            from lace_tui.cli.empty import refuse_empty  # hardly any word is empty

            refuse_empty(parser.prog, parser.actions, args, rest)
        for said in _SAID:
            if (torn := _torn([getattr(args, said, None) or ""])) is not None:
                raise BadArguments(f"lace: {torn!r} is not text in UTF-8, so no friend could read it.", hint=_AS_UTF_8)
    flags.take(args)
    context = flags.context(world, context_name)
    context.output.leaves_out = flags.quiet and verb.acts and not getattr(args, "dry_run", False)
    try:
        result = import_module(verb.module).run(context, args)
    except BadArguments as error:
        if not error.has_own_hint:
            error.hint = f"See: lace help {context_name}"
        raise
    return context.output.answer(result) if isinstance(result, Answer) else int(result)


def parsed(name: str, words: Sequence[str]) -> argparse.Namespace:
    """Return what a verb takes of the words behind it, as at a command line; global options count for nothing.

    Raises:
        BadArguments: the verb takes no such words.
    """
    try:
        return _parse(build_parser(_named(name)), list(words))
    except HelpAsked as asked:
        raise BadArguments(f"lace {name}: what shall it do?", hint=f"See: lace help {name}") from asked


def _parse(parser: Parser, rest: list[str]) -> argparse.Namespace:
    if "--" in rest:  # the intermixed form forgets what the two dashes say
        behind = rest.index("--") + 1
        return parser.parse_args([*rest[:behind], *(_NAMED_SO if word == "--" else word for word in rest[behind:])])
    try:
        try:
            return parser.parse_intermixed_args(rest)
        except TypeError:  # a verb whose arguments have an order of their own
            return parser.parse_args(rest)
    except BadArguments as error:
        if word := parser.no_option(rest):
            error.hint += f" - a name or path such as {typed(word)} goes behind two dashes: -- {typed(word)}"
        raise


def _take_globals(argv: list[str], flags: _Flags, *, is_strict: bool = True) -> list[str]:
    """Take the global options that stand first, and return the rest; not strict, the first other option ends it."""
    words = list(argv)
    while words and words[0].startswith("-") and words[0] != "-":
        option = words.pop(0)
        match option:
            case "--json":
                flags.json = True
            case "-q" | "--quiet":
                flags.quiet = True
            case "-v" | "--verbose":
                flags.verbose = True
            case "-h" | "--help":
                flags.help = True
            case "--version":
                flags.version = True
            case "-C":
                if not words:
                    raise BadArguments("lace -C: a folder is missing.", hint="For example: lace -C notes status")
                if not words[0]:
                    from lace_tui.cli.empty import EMPTY_HINT  # hardly any word is empty

                    raise BadArguments("lace: -C is empty.", hint=EMPTY_HINT)
                flags.directory = os.path.join(flags.directory, words.pop(0))  # noqa: PTH118
            case _ if option.startswith("-C"):
                flags.directory = os.path.join(flags.directory, option[2:])  # noqa: PTH118
            case _ if not is_strict:
                return [option, *words]
            case _:
                raise BadArguments(f"lace: there is no option {option}.", hint="See: lace help")
    return words


def _find(words: list[str], flags: _Flags) -> tuple[Verb, list[str]]:
    """Return the verb and the words after it."""
    first, rest = words[0], words[1:]
    if sub_verbs(first):  # global options may stand between the two words of a verb too
        rest = _take_globals(rest, flags, is_strict=False)
        if flags.help:
            return _named("help"), [first, *rest]
    verb, count = find_verb([first, *rest])
    if verb is not None:
        return verb, [first, *rest][count:]
    if subs := sub_verbs(first):
        names = ", ".join(sub.name.split()[1] for sub in subs)
        raise UnknownVerb(f"lace {first} needs one of: {names}.", hint=f"See: lace help {first}")
    raise unknown([first, *rest])


def _default(flags: _Flags, world: World) -> list[str]:
    """Return what `lace` alone does: the app on a terminal, else the status, and help before those exist."""
    names = {verb.name for verb in VERBS}
    if "tui" in names and not flags.json and flags.context(world, "").is_terminal:
        return ["tui"]
    return ["status"] if "status" in names else ["help"]


def _named(name: str) -> Verb:
    return next(verb for verb in VERBS if verb.name == name)


def _torn(argv: Sequence[str]) -> str | None:
    """Return the first word that came as bytes that are no UTF-8."""
    return next((word for word in argv if any("\udc80" <= char <= "\udcff" for char in word)), None)


def _is_stop(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C came where Python makes another error of it, as while a class is made or a stop undone."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _at_limit(error: BaseException) -> LaceError | None:
    """Return what is to be said where nobody who could name it met the limit of open files: a module is one, too."""
    from vault.files import TooManyFiles  # whoever opened a vault has it

    return TooManyFiles.of(error)


def _report_bug(output: Output, error: BaseException, *, is_verbose: bool) -> int:
    try:
        summary = " ".join(str(error).split())
    except Exception:  # an error may fail to say what it is, as one of a program that has ended
        summary = ""
    what = f"{type(error).__name__}: {summary}" if summary else type(error).__name__
    if is_verbose:
        import traceback

        output.stderr.write("".join(traceback.format_exception(error)))
    return output.fault(
        "bug",
        f"lace {__version__} has a fault and stopped ({what}).",
        "Please report it, with what the same command prints after adding -v. What was stored before stays.",
        EXIT_BUG,
    )


def _give_up_on(world: World) -> None:
    """Keep Python from complaining, at exit, about a standard output that nobody reads."""
    try:
        descriptor = world.stdout.fileno()
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, descriptor)
        os.close(sink)
    except (OSError, ValueError):
        return
