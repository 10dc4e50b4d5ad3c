"""Errors that only this floor can meet, and the exit codes that are no error."""

from __future__ import annotations

from vault.errors import CallerError, EnvironmentFault

__all__ = [
    "EXIT_BUG",
    "EXIT_CANCELLED",
    "EXIT_CODES",
    "EXIT_DONE",
    "EXIT_PERSON",
    "EXIT_PIPE_CLOSED",
    "BadArguments",
    "BadPassphraseSource",
    "FolderMissing",
    "OutputNotWritable",
    "UnknownVerb",
]

EXIT_DONE = 0
EXIT_PERSON = 1
EXIT_BUG = 70
EXIT_CANCELLED = 130
EXIT_PIPE_CLOSED = 141

EXIT_CODES: tuple[tuple[str, str], ...] = (
    ("0", "Done."),
    ("1", "Done, and a person is needed: open conflict, rejected record, finding, a place that failed; or said no."),
    ("2", "Wrong use of the command."),
    ("10-19", "This machine does not let it be done: no vault, locked, disk full, key missing."),
    ("20-29", "A place cannot be reached or written."),
    ("30-39", "A peer broke the protocol or a promise."),
    ("40-49", "Data is damaged."),
    ("70", "A fault in lace itself; please report it."),
    ("130", "Cancelled; what was stored before stays."),
    ("141", "The reader of the output went away before everything was written."),
)


class UnknownVerb(CallerError):
    """There is no verb of that name."""

    code = "unknown-verb"
    hint = "See every verb with: lace help"


class BadArguments(CallerError):
    """A verb's arguments cannot be understood."""

    code = "bad-arguments"
    hint = "See: lace help VERB"


class FolderMissing(CallerError):
    """The folder to work in does not exist."""

    code = "folder-missing"
    hint = "Name an existing folder after -C, or go to one and leave -C out."


class BadPassphraseSource(CallerError):
    """LACE_PASSPHRASE_FD does not name an open file descriptor."""

    code = "bad-passphrase-source"
    hint = "Set it to the number of an open descriptor, for example: LACE_PASSPHRASE_FD=3 lace id 3<file"


class OutputNotWritable(EnvironmentFault):
    """The answer cannot be written to standard output."""

    code = "output-not-writable"
    exit_code = 19
    hint = "The work itself may be done: look with lace status, and make room where the output goes."
