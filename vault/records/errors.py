"""Every way in which bytes fail to be a record, one class for each rule that can be broken (REC-82).

`rule` names the requirement, `code` is the stable word for programs, `exit_code` says what kind of trouble it
is: 40 the form of a record or header, 41 a coordinate, 42 a digest, 43 a signature, 44 an inner record that
is not here, 45 bytes that end too early, 46 the trailer-hash transport form.
"""

from __future__ import annotations

from typing import ClassVar

from vault.errors import DataError

__all__ = [
    "AppPathError",
    "AppSegmentError",
    "AppTooLongError",
    "B64AError",
    "B64ALengthError",
    "B64ASymbolError",
    "B64ATailError",
    "BlobShapeError",
    "BlobTooLargeError",
    "CarriageReturnError",
    "DataLengthError",
    "DataTruncatedError",
    "DigestMismatchError",
    "EmbeddedBlobDigestError",
    "EmbeddedPlexDigestError",
    "ExtraOrderError",
    "ExtraReservedError",
    "ExtraSplitError",
    "ExtraTooEarlyError",
    "ExtraTooManyError",
    "GroupCharacterError",
    "GroupDotError",
    "GroupEmptySegmentError",
    "GroupSegmentTooLongError",
    "GroupSlashError",
    "GroupTooLongError",
    "HashTextError",
    "HeaderControlError",
    "HeaderMissingError",
    "HeaderNameCharacterError",
    "HeaderNameEmptyError",
    "HeaderNotNfcError",
    "HeaderOrderError",
    "HeaderRepeatedError",
    "HeaderSpaceError",
    "HeaderSyntaxError",
    "HeaderTooLongError",
    "HeaderUnterminatedError",
    "HeaderUtf8Error",
    "HeaderValueEmptyError",
    "MarklineError",
    "NamePathError",
    "NameSegmentError",
    "NameTooLongError",
    "PlexShapeError",
    "RecordError",
    "RecordTypeError",
    "SealShapeError",
    "SignatureInvalidError",
    "SignatureTextError",
    "TaiError",
    "ThinInnerError",
    "ThinShapeError",
    "TrailerCoordinateError",
    "TrailerMarkerError",
    "TrailerNestedError",
    "TrailerTypeError",
    "TrailerUnclosedError",
    "TrailingBytesError",
    "VerifierTextError",
]

_DAMAGED = "The bytes are not what their writer stored: fetch the record again from another place."
_WRITER = "The program that wrote this record has a fault: it can only be mended where it was made."


class RecordError(DataError):
    """Base of every reason why bytes are not a valid record.

    `offset` is where the record starts in the stream it was read from, in bytes; None outside a stream.
    """

    rule: ClassVar[str] = ""
    hint = _WRITER
    offset: int | None = None


class B64AError(RecordError):
    """Text is not canonical B64A."""


class B64ASymbolError(B64AError):
    """A character lies outside the B64A alphabet, padding included."""

    rule, code = "REC-9", "b64a-symbol"


class B64ALengthError(B64AError):
    """No number of bytes has a B64A form of this length."""

    rule, code = "REC-10", "b64a-length"


class B64ATailError(B64AError):
    """The unused low bits of the last symbol are not zero."""

    rule, code = "REC-10", "b64a-tail"


class MarklineError(RecordError):
    """The bytes do not start with a markline."""

    rule, code = "REC-1", "record-markline"
    hint = "This is not a stored record. Trailer and thin forms are converted to the stored form first."


class HashTextError(RecordError):
    """Text is not a record hash of the form T.<43 B64A>.H3."""

    rule, code = "REC-2", "record-hash-text"


class RecordTypeError(RecordError):
    """The markline names another type than the record that follows."""

    rule, code = "REC-4", "record-type-mismatch"


class DigestMismatchError(RecordError):
    """The markline's digest is not the digest of the bytes after it."""

    rule, code, exit_code, hint = "REC-5", "record-digest-mismatch", 42, _DAMAGED


class HeaderSyntaxError(RecordError):
    """A header line has no colon."""

    rule, code = "REC-13", "record-header-syntax"


class HeaderNameEmptyError(RecordError):
    """A header has no name."""

    rule, code = "REC-14", "record-header-name-empty"


class HeaderNameCharacterError(RecordError):
    """A header name holds a colon, a space or a tab."""

    rule, code = "REC-15", "record-header-name-character"


class HeaderSpaceError(RecordError):
    """Not exactly one space follows the colon of a header (H-5)."""

    rule, code = "REC-16", "record-header-space"


class HeaderValueEmptyError(RecordError):
    """A header has no value."""

    rule, code = "REC-17", "record-header-value-empty"


class HeaderUtf8Error(RecordError):
    """A header is not UTF-8."""

    rule, code = "REC-18", "record-header-utf8"


class HeaderNotNfcError(RecordError):
    """A header is not in Unicode normalisation form C."""

    rule, code = "REC-18", "record-header-nfc"
    hint = "Lace never repairs names silently: normalise the text to NFC before the record is made."


class HeaderUnterminatedError(RecordError):
    """The bytes end inside a header line."""

    rule, code, exit_code, hint = "REC-19", "record-header-unterminated", 45, _DAMAGED


class CarriageReturnError(RecordError):
    """A header holds a carriage return."""

    rule, code = "REC-20", "record-header-cr"
    hint = "Something rewrote the line ends: copy the record as binary, without text conversion."


class HeaderControlError(RecordError):
    """A header holds a control byte."""

    rule, code = "REC-21", "record-header-control"


class HeaderTooLongError(RecordError):
    """A header line is longer than 1024 bytes."""

    rule, code = "REC-22", "record-header-too-long"


class BlobShapeError(RecordError):
    """A Blob lacks its Data-Length or the blank line after it."""

    rule, code = "REC-24", "record-blob-shape"


class DataLengthError(RecordError):
    """Data-Length is not a plain base-10 number."""

    rule, code = "REC-25", "record-data-length"


class DataTruncatedError(RecordError):
    """There are fewer data bytes than Data-Length says."""

    rule, code, exit_code, hint = "REC-26", "record-data-truncated", 45, _DAMAGED


class TrailingBytesError(RecordError):
    """Bytes follow the record where exactly one record is expected."""

    rule, code = "REC-26", "record-trailing-bytes"
    hint = "Read several records with the streaming reader."


class BlobTooLargeError(RecordError):
    """Blob data is larger than 32 MiB."""

    rule, code = "REC-27", "record-blob-too-large"
    hint = "Larger content travels as chunks under a manifest."


class PlexShapeError(RecordError):
    """A Plex is not followed by an embedded Blob."""

    rule, code = "REC-29", "record-plex-shape"


class HeaderMissingError(RecordError):
    """A required Plex header is missing."""

    rule, code = "REC-31", "record-header-missing"


class HeaderRepeatedError(RecordError):
    """A required Plex header appears twice."""

    rule, code = "REC-31", "record-header-repeated"


class HeaderOrderError(RecordError):
    """Required Plex headers are not in the order Group, App, Name, TAI."""

    rule, code = "REC-32", "record-header-order"


class ExtraTooEarlyError(RecordError):
    """An extra header stands before TAI."""

    rule, code = "REC-33", "record-extra-too-early"


class EmbeddedBlobDigestError(RecordError):
    """The digest of the Blob inside a Plex is wrong although the Plex's own is right."""

    rule, code, exit_code = "REC-36", "record-embedded-blob-digest", 42


class SealShapeError(RecordError):
    """A Seal is not Signed-By, Signature and an embedded Plex."""

    rule, code = "REC-37", "record-seal-shape"


class VerifierTextError(RecordError):
    """Text is not a verifier of the form V.<43 B64A>.H3."""

    rule, code = "REC-38", "record-verifier-text"


class SignatureTextError(RecordError):
    """Signature is not 64 bytes as 86 B64A characters."""

    rule, code = "REC-39", "record-signature-text"


class EmbeddedPlexDigestError(RecordError):
    """The digest of the Plex inside a Seal is wrong although the Seal's own is right."""

    rule, code, exit_code = "REC-40", "record-embedded-plex-digest", 42


class SignatureInvalidError(RecordError):
    """The signature is not the signer's over the embedded Plex."""

    rule, code, exit_code = "REC-40", "record-signature-invalid", 43
    hint = "Do not trust this record: its signer did not sign it, or somebody changed it."


class TaiError(RecordError):
    """TAI is not ten digits, a colon and nine digits."""

    rule, code = "REC-43", "record-tai"


class GroupEmptySegmentError(RecordError):
    """A Group has an empty segment."""

    rule, code, exit_code = "REC-46", "record-group-empty-segment", 41


class GroupSlashError(RecordError):
    """A Group starts or ends with a slash."""

    rule, code, exit_code = "REC-47", "record-group-slash", 41


class GroupSegmentTooLongError(RecordError):
    """A segment of a Group is longer than 128 bytes."""

    rule, code, exit_code = "REC-48", "record-group-segment-too-long", 41


class GroupTooLongError(RecordError):
    """A Group is longer than 675 bytes."""

    rule, code, exit_code = "REC-49", "record-group-too-long", 41


class GroupCharacterError(RecordError):
    """A Group holds one of { } | #."""

    rule, code, exit_code = "REC-50", "record-group-character", 41


class GroupDotError(RecordError):
    """A segment of a Group is . or .. ."""

    rule, code, exit_code = "REC-51", "record-group-dot", 41


class AppPathError(RecordError):
    """An App has an empty or too long segment, or starts or ends with a slash."""

    rule, code, exit_code = "REC-52", "record-app-path", 41


class AppTooLongError(RecordError):
    """An App is longer than 128 bytes."""

    rule, code, exit_code = "REC-53", "record-app-too-long", 41


class AppSegmentError(RecordError):
    """A segment of an App holds one of { } | or is . or .. ."""

    rule, code, exit_code = "REC-54", "record-app-segment", 41


class NamePathError(RecordError):
    """A Name has an empty or too long segment, or starts or ends with a slash."""

    rule, code, exit_code = "REC-55", "record-name-path", 41


class NameTooLongError(RecordError):
    """A Name is longer than 675 bytes."""

    rule, code, exit_code = "REC-56", "record-name-too-long", 41


class NameSegmentError(RecordError):
    """A segment of a Name holds one of { } | or is . or .. ."""

    rule, code, exit_code = "REC-57", "record-name-segment", 41


class ExtraOrderError(RecordError):
    """Extra headers are not sorted by name."""

    rule, code = "REC-58", "record-extra-order"


class ExtraSplitError(RecordError):
    """Extra headers of one name do not stand together."""

    rule, code = "REC-59", "record-extra-split"


class ExtraTooManyError(RecordError):
    """A Plex has more than 512 extra headers."""

    rule, code = "REC-60", "record-extra-too-many"


class ExtraReservedError(RecordError):
    """A reserved name is used for an extra header."""

    rule, code = "REC-61", "record-extra-reserved"


class ThinShapeError(RecordError):
    """Bytes are not the thin form of a Plex or Seal."""

    rule, code, exit_code = "REC-72", "record-thin-shape", 44


class ThinInnerError(RecordError):
    """The inner record of a thin record cannot be rebuilt."""

    rule, code, exit_code = "REC-74", "record-thin-inner", 44
    hint = "Fetch the inner record first; a thin record is only a short way of writing one that is here."


class TrailerMarkerError(RecordError):
    """A trailer-hash open or close marker is malformed."""

    rule, code, exit_code = "REC-75", "record-trailer-marker", 46


class TrailerCoordinateError(RecordError):
    """The coordinate of an open marker is not that of the record."""

    rule, code, exit_code = "REC-75", "record-trailer-coordinate", 46


class TrailerTypeError(RecordError):
    """The type of an open marker is not B, P or S, or not that of the close marker."""

    rule, code, exit_code = "REC-76", "record-trailer-type", 46


class TrailerNestedError(RecordError):
    """A second open marker stands inside a trailer-hash record."""

    rule, code, exit_code = "REC-77", "record-trailer-nested", 46


class TrailerUnclosedError(RecordError):
    """A trailer-hash record has no close marker."""

    rule, code, exit_code, hint = "REC-79", "record-trailer-unclosed", 45, _DAMAGED
