"""What can go wrong with a place or with the files on it, split by who is to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vault.errors import CallerError, DataError, EnvironmentFault, PeerError, PlaceError

if TYPE_CHECKING:
    from vault.records import Verifier

__all__ = [
    "CAN_BE_READ",
    "WRITE_REFUSALS",
    "AccessRefused",
    "AddressInUse",
    "BadBundle",
    "BadEnvelope",
    "BadOneFile",
    "BadRun",
    "BadSnapshot",
    "BadStream",
    "BranchSetBack",
    "CertificateUntrusted",
    "ClosedFile",
    "ClosedToYou",
    "DropEmptied",
    "DropNotEmpty",
    "FalseRun",
    "FalseSnapshot",
    "GitMissing",
    "LeftInPlain",
    "MailboxGone",
    "MailboxSetBack",
    "MissingFile",
    "NotADrop",
    "NotAGitPlace",
    "OnlyRead",
    "PlaceCrowded",
    "PlaceDamaged",
    "PlaceFull",
    "PlaceNotWritable",
    "PlaceStalled",
    "PlaceUnmarked",
    "PlaceUnreachable",
    "PushRejected",
    "RefusedThere",
    "RolledBack",
    "SealedToOthers",
    "TwoStates",
    "UnknownPlaceKind",
    "UnreadableFile",
    "WriteNotKept",
    "WrongDrop",
    "WrongServer",
]

CAN_BE_READ: Final = "What lies there can be read: lace pull NAME"
"""How the way out ends where a place takes nothing now; of one that was never added nothing is pulled."""

_DAMAGED = "Sync again: what is damaged here is taken from another place, or written anew by its owner."


class UnknownPlaceKind(CallerError):
    """An address of a kind this version does not speak (CYB-16)."""

    code = "unknown-place-kind"
    hint = "Name a directory, for example one on a USB stick, a git remote, or the https address of a drop."


class DropNotEmpty(CallerError):
    """A directory that holds other files was named as a new drop."""

    code = "drop-not-empty"
    hint = "Name a sub-directory of it that does not exist yet."


class PlaceUnreachable(PlaceError):
    """The place is not there, or went away while it was used."""

    code = "place-unreachable"
    exit_code = 20
    can_wait = True
    hint = "Plug the stick in, or mount the directory, and run the same command again."


class CertificateUntrusted(PlaceUnreachable):
    """A web server, perhaps a friend's `lace serve`, answered with a certificate that this machine does not trust."""

    code = "certificate-untrusted"
    hint = "For a friend's lace serve, add the whole line that it printed, with # and the key at its end."


class PlaceStalled(PlaceUnreachable):
    """A place on this machine neither takes nor gives anything: a network drive that stalls, a stick that hangs."""

    code = "place-stalled"
    hint = "Check what it lies on, and run the same command again."


class DropEmptied(PlaceUnreachable):
    """The directory of a known drop is there without the drop: an unplugged stick's mount point, or an emptied one."""

    code = "drop-emptied"
    exit_code = 20
    hint = "Plug the stick in. To begin anew where it was emptied: lace place remove NAME, then lace place add NAME DIR"


class WrongDrop(PlaceError):
    """Another drop lies where this place was last seen."""

    code = "wrong-drop"
    exit_code = 21
    can_wait = True
    hint = "Plug in the right stick, or add this one as a place of its own."


class PlaceUnmarked(WrongDrop):
    """A repository that is known here lost its branch `lace/place`, by which it says which place it is (CYB-15).

    `is_emptied` says that no mailbox is left there either, by which a repair could prove which place it was.
    """

    code = "place-unmarked"
    exit_code = 21
    hint = "Whoever synced there before writes that branch anew by a sync there and then: lace fsck --repair"

    def __init__(self, message: str, *, hint: str = "", is_emptied: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_emptied = is_emptied


class PlaceCrowded(PlaceError):
    """A place lists more mailboxes of one group than a group has members: somebody who may write there made them."""

    code = "place-crowded"
    exit_code = 29
    can_wait = True
    hint = "Let its owner delete those that are nobody's, and meet at another place meanwhile: lace place add OTHER URI"


class PlaceFull(PlaceError):
    """The medium has no room left."""

    code = "place-full"
    exit_code = 22
    hint = "Free some space there and run the same command again: what lies there stays valid."


class PlaceNotWritable(PlaceError):
    """The medium is write-protected, or fails while it is written.

    Attributes:
        begins_anew: whether what fails lies here, is no only copy, and is begun anew by the next visit.
    """

    begins_anew = False
    code = "place-not-writable"
    exit_code = 23
    hint = f"Check the write protection and the permissions of the medium. {CAN_BE_READ}"


class OnlyRead(PlaceNotWritable):
    """The place is of a kind that takes nothing from this vault; what waits goes another way."""

    code = "only-read"
    exit_code = 23
    can_wait = True
    hint = "Meet at another place, or let its owner fetch from you."


class WriteNotKept(PlaceError):
    """The medium returned bytes other than those written to it."""

    code = "write-not-kept"
    exit_code = 24
    hint = "Do not trust this medium: sync again, and use another one if it happens twice."


class NotADrop(PlaceError):
    """The directory does not hold a drop that this version can read."""

    code = "not-a-drop"
    exit_code = 25
    hint = "Name the directory that holds lace-drop.txt, or add an empty one as a new drop."


class GitMissing(PlaceError):
    """The program git, which carries a git place, cannot be run here."""

    code = "git-missing"
    exit_code = 26
    hint = "Install git, at least version 2.29, and run the same command again."


class AccessRefused(PlaceError):
    """A git host does not let this person in."""

    code = "access-refused"
    exit_code = 27
    hint = "Check with git itself that you may fetch and push there: by your ssh key, or by your ~/.netrc for https."


class PushRejected(PlaceError):
    """A git host takes in no change to the mailbox.

    `is_passing` tells whether another push was in the way, so that the next one may go.
    """

    code = "push-rejected"
    exit_code = 28
    hint = f"Let the host accept pushes to branches below lace/. {CAN_BE_READ}"

    def __init__(self, message: str, *, hint: str = "", is_passing: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_passing = is_passing


# The medium is there and takes nothing; what lies on it can be read all the same.
WRITE_REFUSALS = (PlaceFull, PlaceNotWritable, PushRejected)


class BranchSetBack(PlaceError):
    """The branch with a mailbox of yours did not hold what was left there: it was set back, written over or deleted."""

    code = "branch-set-back"
    exit_code = 28
    hint = (
        "What it held, as far as the host has it still or it is here, is there again. Ask whoever keeps the repository"
        " what happened to it."
    )


class MailboxSetBack(PlaceError):
    """A mailbox of yours on a medium did not hold what was left there: it was set back, or written over."""

    code = "mailbox-set-back"
    exit_code = 28
    hint = "What you share lies there again. Ask whoever keeps the medium what happened to it."


class LeftInPlain(PlaceError):
    """A git host lets no branch go, so that what was left there in plain before stays readable behind it."""

    code = "left-in-plain"
    exit_code = 28
    hint = (
        "Let the owner of the repository delete what is named and run git gc there. What is yours lies there encrypted."
    )


class PlaceDamaged(PushRejected):
    """A repository at a git host lacks an object that its branches need, so that git there takes in nothing."""

    code = "place-damaged"
    exit_code = 28
    hint = (
        "Run the same command again: what is damaged of yours is written anew. If that does not help, let whoever keeps"
        " the repository run git fsck there and delete the empty files and the branches that it names; then everybody"
        f" syncs once more. {CAN_BE_READ}"
    )


class NotAGitPlace(PlaceError):
    """There is no repository, or one that lace cannot or will not use as a place."""

    code = "not-a-git-place"
    exit_code = 29
    can_wait = True  # hosts say the same of one that is gone for now, such as a directory that is not mounted
    hint = "Name a bare repository that you may push to; an empty one becomes a place when it is added."


class RolledBack(PeerError):
    """A mailbox shows an older state than it showed before: whoever put it there, the medium was set back (CYB-18)."""

    code = "rolled-back"
    exit_code = 30
    hint = (
        "Nothing was deleted here, and nobody did wrong by it. Whoever syncs there next writes their mailbox anew; a"
        " copy that is only read, as on a web server, is made anew by whoever keeps it."
    )


class TwoStates(RolledBack):
    """A mailbox showed two states of one number, and its owner's key sealed both (CYB-18)."""

    code = "two-states"
    exit_code = 30
    hint = "Nothing was deleted here. Ask its owner whether a copy of their vault wrote there, or a restored one."


class WrongServer(PeerError):
    """The machine that answered is not the friend's whose key is known here."""

    code = "wrong-server"
    exit_code = 33
    hint = "Nothing was sent. Ask your friend for the present address, and compare the words of the key aloud."
    answered: Verifier | None = None  # whose key answered, where another node does


class AddressInUse(EnvironmentFault):
    """A server cannot listen where it was told to."""

    code = "address-in-use"
    exit_code = 19
    hint = "Another program may listen there: name another port, as in lace serve --listen :7434"


class RefusedThere(PeerError):
    """A live server does not answer this node."""

    code = "refused-there"
    exit_code = 34
    hint = "Ask your friend whether you are a member and not revoked there, and compare the clocks of both machines."


class BadStream(DataError):
    """What a live exchange brought breaks the format, or was cut off."""

    code = "bad-stream"
    exit_code = 40
    hint = "What came before it was checked record by record and stays. Run the same command again."


class BadSnapshot(DataError):
    """A snapshot head breaks the format."""

    code = "bad-snapshot"
    hint = "Its owner's next sync writes a new one."


class FalseSnapshot(BadSnapshot):
    """A snapshot head breaks the format, and its owner's key sealed it that way."""

    code = "false-snapshot"
    hint = "No medium did that: ask its owner which lace wrote it. Their next sync there writes a new one."


class BadRun(DataError):
    """An index run breaks the format or is not the one the head names."""

    code = "bad-index-run"
    hint = _DAMAGED


class FalseRun(BadRun):
    """An index run breaks the format, and its owner's sealed head names it by its digest."""

    code = "false-index-run"
    hint = "No medium did that: ask its owner which lace wrote it. Their lace fsck --repair there writes it anew."


class BadBundle(DataError):
    """A bundle, or a frame of it, breaks the format."""

    code = "bad-bundle"
    hint = _DAMAGED


class BadEnvelope(DataError):
    """Encrypted bytes that are damaged, or stand where they do not belong."""

    code = "bad-envelope"
    exit_code = 40
    hint = _DAMAGED


class BadOneFile(DataError):
    """A file to mail or carry that is not whole, or is not one of lace's."""

    code = "bad-bundle-file"
    exit_code = 40
    hint = "Ask for it again: nothing of it was taken in. A copy by another way may be whole."


class SealedToOthers(DataError):
    """Encrypted bytes whose key this node was not given."""

    code = "sealed-to-others"
    exit_code = 43
    hint = "Whoever wrote it must sync once more after you became a member; then it is yours to read too."


class ClosedToYou(DataError):
    """A mailbox that this node could open before, and that is encrypted to others now."""

    code = "closed-to-you"
    exit_code = 43
    hint = (
        "If nothing says why, ask its owner by another way: who was revoked goes on with lace adopt, a new key that a"
        " friend admits, and what you have stays yours to read. Else its owner syncs here once more."
    )


class MailboxGone(DataError):
    """A copy behind a web server shows no more the mailbox of a member that it showed before."""

    code = "mailbox-gone"
    exit_code = 43
    hint = "A copy shows an encrypted mailbox only to who opened it before, where it was written: sync there."


class MissingFile(DataError):
    """A file that a head or a run names is not on the medium."""

    code = "missing-file"
    hint = _DAMAGED


class UnreadableFile(DataError):
    """The medium cannot give back a file's bytes, or the name is not that of a plain file."""

    code = "unreadable-file"
    hint = _DAMAGED


class ClosedFile(UnreadableFile):
    """A file or directory of the medium may not be read by this person of the machine."""

    code = "closed-file"
    hint = "Nothing is damaged: ask whoever wrote it there to open it to you, with chmod -R go+rX DIRECTORY."
