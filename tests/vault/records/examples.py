"""Valid and invalid stored records, one or more for each rule that bytes can break.

The same table drives every reader of records: `parse_record`, the streaming reader, and the command line.
Unless a digest itself is what is wrong, every digest and signature in an invalid example is right, so that
only the rule in question can be the reason to refuse it.
"""

from __future__ import annotations

from blake3 import blake3

from vault.records import Blob, Plex, Seal, Tai
from vault.records import errors as e
from vault.records.b64a import encode
from vault.suite import SigningKey

__all__ = [
    "BLOB",
    "COORDINATE",
    "INVALID",
    "KEY",
    "PLEX",
    "SEAL",
    "TAI",
    "VALID",
    "blob",
    "mark",
    "plex",
    "seal",
]

KEY = SigningKey.from_seed(bytes(range(32)))
OTHER_KEY = SigningKey.from_seed(bytes(range(32, 64)))

COORDINATE = "Group: eu/lab\nApp: chat\nName: room-7/123\n"
TAI = "TAI: 1640995200:000000000\n"

BLOB = Blob(b"hello room7")
PLEX = Plex.build(
    group="eu/lab",
    app="chat",
    name="room-7/123",
    tai=Tai.parse("1640995200:000000000"),
    extras=[("Content-Type", "text/plain")],
    data=b"hello room7",
)
SEAL = Seal.sign(PLEX, KEY)


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def mark(kind: str, payload: str | bytes) -> bytes:
    """Put the right markline before a payload, however wrong the payload is."""
    payload = _bytes(payload)
    return f"🖧: {kind}.{encode(blake3(payload).digest())}.H3\n".encode() + payload


def plex(headers: str | bytes, inner: bytes = BLOB.encode()) -> bytes:
    return mark("P", _bytes(headers) + inner)


def extras(text: str | bytes) -> bytes:
    return plex(_bytes(COORDINATE + TAI) + _bytes(text))


def coordinate(group: str = "eu/lab", app: str = "chat", name: str = "room-7/123") -> bytes:
    return plex(f"Group: {group}\nApp: {app}\nName: {name}\n{TAI}")


def tai(text: str) -> bytes:
    return plex(f"{COORDINATE}TAI: {text}\n")


def seal(inner: bytes, *, signed_by: str | None = None, signature: str | bytes | None = None) -> bytes:
    """Seal stored Plex bytes as they are, valid or not."""
    digest = blake3(inner.partition(b"\n")[2]).digest()
    value = KEY.sign_digest(digest) if signature is None else signature
    text = value if isinstance(value, str) else encode(value)
    return mark("S", f"Signed-By: {signed_by or KEY.verifier}\nSignature: {text}\n".encode() + inner)


def blob(length: str, data: bytes = b"") -> bytes:
    return mark("B", f"Data-Length: {length}\n\n".encode() + data)


def flip(data: bytes, at: int) -> bytes:
    """Change one bit of the byte at `at`, counted from the end if negative."""
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def reseal_wrongly() -> bytes:
    """A Seal whose own digest is right, over a Plex whose digest is not."""
    return mark("S", SEAL.encode().partition(b"\n")[2][:-1] + b"!")


def long_line(size: int) -> str:
    """An extra header line of `size` bytes without its LF, in characters of two bytes where it can."""
    room = size - len("X: ")
    return "X: " + "é" * (room // 2) + "x" * (room % 2) + "\n"


PLAIN = PLEX.encode()
SEALED = SEAL.encode()
NO_EXTRAS = coordinate()
HASH_B = BLOB.hash.text
SPLIT = COORDINATE + TAI
SEG128, SEG129 = "a" * 128, "a" * 129
PATH675 = "/".join([SEG128] * 5 + ["b" * 30])
BEYOND676 = "/".join(["é" * 64] * 5 + ["é" * 15 + "b"])

VALID: list[tuple[str, bytes]] = [
    ("empty blob", Blob(b"").encode()),
    ("blob", BLOB.encode()),
    ("blob that holds marklines and NUL (REC-28)", Blob(b"\x00\r\n\n\n" + SEALED + b"\xff").encode()),
    ("blob of every byte", Blob(bytes(range(256))).encode()),
    ("blob of 100 KB", Blob(b"lace" * 25_000).encode()),
    ("plex without extras", NO_EXTRAS),
    ("plex", PLAIN),
    ("seal", SEALED),
    ("seal of an empty blob", seal(plex(SPLIT, Blob(b"").encode()))),
    ("header line of 1024 bytes (REC-22)", extras(long_line(1024))),
    ("trailing and inner spaces are data (REC-23)", extras("A: x  y  \n")),
    ("a colon and a space in a value", extras("A: b: c\n")),
    ("a value of one colon", extras("A: :\n")),
    ("line separators of Unicode are data (REC-19)", extras("A: a\u2028b\u0085c\n")),
    ("names and values beyond ASCII, in NFC (REC-18)", extras("Größe: é 🖧 日本\n")),
    ("extras in the order of their bytes (REC-58)", extras("+Link: x\nA: 1\nB: 1\na: 1\né: 1\n🙂: 1\n")),
    ("extras of one name keep their order (REC-59)", extras("A: 2\nA: 1\nA: 2\n")),
    ("512 extras (REC-60)", extras("".join(f"X: {n}\n" for n in range(512)))),
    ("the largest head there is", extras(long_line(1024) * 512)),
    ("malformed link (REC-68)", extras("+Link: nonsense\n")),
    ("group of 675 bytes (REC-49)", coordinate(group=PATH675)),
    ("name of 675 bytes (REC-56)", coordinate(name=PATH675)),
    ("app of 128 bytes (REC-53)", coordinate(app=SEG128)),
    ("segments of 128 bytes beyond ASCII (REC-48)", coordinate(group="é" * 64, app="é" * 64, name="é" * 64)),
    ("# in app and name (REC-54, REC-57)", coordinate(app="a#b", name="c#")),
    ("dots inside segments", coordinate(group="...", app=".a", name="a..b/...")),
    ("TAI zero", tai("0000000000:000000000")),
    ("TAI of far away (REC-45)", tai("9999999999:999999999")),
]

INVALID: list[tuple[str, str, bytes, type[e.RecordError]]] = [
    ("REC-1", "no markline", BLOB.payload, e.MarklineError),
    ("REC-1", "one byte", b"x", e.MarklineError),
    ("REC-1", "no space after the colon", BLOB.encode().replace(b": ", b":", 1), e.MarklineError),
    ("REC-1", "a byte order mark first", b"\xef\xbb\xbf" + BLOB.encode(), e.MarklineError),
    ("REC-2", "unknown type", mark("X", BLOB.payload), e.HashTextError),
    ("REC-2", "a verifier instead of a record", mark("V", BLOB.payload), e.HashTextError),
    ("REC-2", "another suffix", BLOB.encode().replace(b".H3", b".H4", 1), e.HashTextError),
    ("REC-2", "too short", BLOB.encode().replace(b"AKZ", b"AK", 1), e.HashTextError),
    ("REC-2", "two spaces", BLOB.encode().replace(b": ", b":  ", 1), e.HashTextError),
    ("REC-2", "a space after the hash", BLOB.encode().replace(b".H3", b".H3 ", 1), e.HashTextError),
    ("REC-9", "- in the digest", BLOB.encode().replace(b"AKZ", b"A-Z", 1), e.B64ASymbolError),
    ("REC-9", "padding in the digest", BLOB.encode().replace(b"Lsh.", b"Ls=.", 1), e.B64ASymbolError),
    (
        "REC-9",
        "beyond ASCII in the digest",
        BLOB.encode().replace(b"AKZ", "AéZ".encode(), 1),
        e.B64ASymbolError,
    ),
    ("REC-10", "loose bits in the digest", BLOB.encode().replace(b"Lsh.", b"Lsi.", 1), e.B64ATailError),
    ("REC-4", "blob marked as plex", mark("P", BLOB.payload), e.RecordTypeError),
    ("REC-4", "plex marked as seal", mark("S", PLEX.payload), e.RecordTypeError),
    ("REC-4", "seal marked as blob", mark("B", SEAL.payload), e.RecordTypeError),
    ("REC-4", "embedded plex marked as blob", plex(SPLIT, mark("B", PLEX.payload)), e.RecordTypeError),
    ("REC-5", "blob data changed", flip(BLOB.encode(), -1), e.DigestMismatchError),
    ("REC-5", "plex header changed", PLAIN.replace(b"text/plain", b"text/plain "), e.DigestMismatchError),
    ("REC-5", "seal changed", flip(SEALED, -1), e.DigestMismatchError),
    ("REC-5", "blob under another's hash", BLOB.hash.markline + Blob(b"x").payload, e.DigestMismatchError),
    ("REC-13", "no colon", extras("Nonsense\n"), e.HeaderSyntaxError),
    ("REC-14", "no name", extras(": x\n"), e.HeaderNameEmptyError),
    ("REC-15", "space in a name", extras("A b: x\n"), e.HeaderNameCharacterError),
    ("REC-15", "space before the colon", extras("A : x\n"), e.HeaderNameCharacterError),
    ("REC-16", "no space", extras("A:x\n"), e.HeaderSpaceError),
    ("REC-16", "two spaces (H-5)", extras("A:  x\n"), e.HeaderSpaceError),
    ("REC-16", "colon in a name", extras("A:b: x\n"), e.HeaderSpaceError),
    ("REC-16", "nothing after the colon", extras("A:\n"), e.HeaderSpaceError),
    ("REC-17", "no value", extras("A: \n"), e.HeaderValueEmptyError),
    ("REC-18", "not UTF-8", extras(b"A: \xff\n"), e.HeaderUtf8Error),
    ("REC-18", "a surrogate", extras(b"A: \xed\xa0\x80\n"), e.HeaderUtf8Error),
    ("REC-18", "an overlong slash", extras(b"A: \xc0\xaf\n"), e.HeaderUtf8Error),
    ("REC-18", "value not in NFC", extras("A: e\u0301\n"), e.HeaderNotNfcError),
    ("REC-18", "name not in NFC", extras("e\u0301: x\n"), e.HeaderNotNfcError),
    ("REC-18", "group not in NFC", coordinate(group="cafe\u0301"), e.HeaderNotNfcError),
    ("REC-19", "ends inside a header", PLAIN[:70], e.HeaderUnterminatedError),
    ("REC-19", "ends inside the markline", PLAIN[:30], e.HeaderUnterminatedError),
    ("REC-20", "CRLF in the markline", BLOB.encode().replace(b"\n", b"\r\n", 1), e.CarriageReturnError),
    ("REC-20", "CRLF in a header", extras("A: x\r\n"), e.CarriageReturnError),
    ("REC-20", "CRLF everywhere", PLAIN.replace(b"\n", b"\r\n"), e.CarriageReturnError),
    ("REC-20", "a lone CR", extras("A: x\rB: y\n"), e.CarriageReturnError),
    ("REC-21", "NUL", extras("A: \x00\n"), e.HeaderControlError),
    ("REC-21", "tab in a value", extras("A: x\ty\n"), e.HeaderControlError),
    ("REC-21", "tab in a name", extras("A\tb: x\n"), e.HeaderControlError),
    ("REC-21", "DEL", extras("A: \x7f\n"), e.HeaderControlError),
    ("REC-21", "0x1F", extras("A: \x1f\n"), e.HeaderControlError),
    ("REC-21", "a vertical tab", extras("A: x\x0by\n"), e.HeaderControlError),
    ("REC-22", "a line of 1025 bytes", extras(long_line(1025)), e.HeaderTooLongError),
    ("REC-22", "a line of 1 MB", extras("A: " + "x" * 1_000_000 + "\n"), e.HeaderTooLongError),
    ("REC-22", "a line that never ends", mark("P", "Group: " + "g" * 700_000), e.HeaderTooLongError),
    ("REC-24", "no Data-Length", mark("B", "\nhello"), e.BlobShapeError),
    ("REC-24", "another header", mark("B", "Length: 5\n\nhello"), e.BlobShapeError),
    ("REC-24", "a second header", mark("B", "Data-Length: 5\nA: x\n\nhello"), e.BlobShapeError),
    ("REC-24", "no blank line", mark("B", "Data-Length: 5\nhello"), e.HeaderUnterminatedError),
    ("REC-24", "ends before the blank line", mark("B", "Data-Length: 0\n"), e.BlobShapeError),
    ("REC-24", "only a markline", BLOB.hash.markline, e.BlobShapeError),
    ("REC-25", "01", blob("01", b"x"), e.DataLengthError),
    ("REC-25", "+1", blob("+1", b"x"), e.DataLengthError),
    ("REC-25", "-1", blob("-1", b"x"), e.DataLengthError),
    ("REC-25", "1_0", blob("1_0", b"x" * 10), e.DataLengthError),
    ("REC-25", "0x1", blob("0x1", b"x"), e.DataLengthError),
    ("REC-25", "a trailing space", blob("1 ", b"x"), e.DataLengthError),
    ("REC-25", "00", blob("00"), e.DataLengthError),
    ("REC-25", "digits of another script", blob("１", b"x"), e.DataLengthError),
    ("REC-25", "empty", blob("", b""), e.HeaderValueEmptyError),
    ("REC-26", "one byte short", mark("B", "Data-Length: 6\n\nhello"), e.DataTruncatedError),
    ("REC-26", "cut in a seal", SEALED[:-1], e.DataTruncatedError),
    ("REC-26", "no data at all", mark("B", "Data-Length: 6\n\n"), e.DataTruncatedError),
    ("REC-27", "one byte above 32 MiB", blob("33554433"), e.BlobTooLargeError),
    ("REC-27", "a number of 900 digits", blob("9" * 900), e.BlobTooLargeError),
    ("REC-29", "no embedded blob", mark("P", SPLIT + "\n"), e.PlexShapeError),
    ("REC-29", "a seal embedded", plex(SPLIT, SEALED), e.PlexShapeError),
    ("REC-29", "a plex embedded", plex(SPLIT, PLAIN), e.PlexShapeError),
    ("REC-29", "bare data", mark("P", SPLIT + "\nhello"), e.PlexShapeError),
    ("REC-31", "no group", plex("App: chat\nName: n\n" + TAI), e.HeaderMissingError),
    ("REC-31", "no app", plex("Group: g\nName: n\n" + TAI), e.HeaderMissingError),
    ("REC-31", "no name", plex("Group: g\nApp: a\n" + TAI), e.HeaderMissingError),
    ("REC-31", "no TAI", plex(COORDINATE), e.HeaderMissingError),
    ("REC-31", "no headers", mark("P", BLOB.encode()), e.HeaderMissingError),
    ("REC-31", "ends after app", mark("P", "Group: g\nApp: a\n"), e.HeaderMissingError),
    ("REC-31", "two groups", plex("Group: g\nGroup: g\nApp: a\nName: n\n" + TAI), e.HeaderRepeatedError),
    ("REC-31", "a second TAI", extras(TAI), e.HeaderRepeatedError),
    ("REC-31", "a second name at the end", extras("Name: n\n"), e.HeaderRepeatedError),
    ("REC-32", "app first", plex("App: a\nGroup: g\nName: n\n" + TAI), e.HeaderOrderError),
    ("REC-32", "TAI before name", plex(f"Group: g\nApp: a\n{TAI}Name: n\n"), e.HeaderOrderError),
    ("REC-33", "an extra first", plex("A: x\n" + SPLIT), e.ExtraTooEarlyError),
    ("REC-33", "an extra before TAI", plex(COORDINATE + "A: x\n" + TAI), e.ExtraTooEarlyError),
    ("REC-36", "embedded blob changed", plex(SPLIT, flip(BLOB.encode(), -1)), e.EmbeddedBlobDigestError),
    (
        "REC-36",
        "embedded blob changed in a sealed plex",
        seal(plex(SPLIT, flip(BLOB.encode(), -1))),
        e.EmbeddedBlobDigestError,
    ),
    (
        "REC-37",
        "no plex",
        mark("S", f"Signed-By: {KEY.verifier}\nSignature: {'0' * 86}\n\n"),
        e.SealShapeError,
    ),
    ("REC-37", "a blob sealed", seal(BLOB.encode()), e.SealShapeError),
    ("REC-37", "a seal sealed", seal(SEALED), e.SealShapeError),
    ("REC-37", "no Signature", mark("S", f"Signed-By: {KEY.verifier}\n".encode() + PLAIN), e.SealShapeError),
    ("REC-37", "no Signed-By", mark("S", f"Signature: {'0' * 86}\n".encode() + PLAIN), e.SealShapeError),
    ("REC-37", "a third header", seal(b"A: x\n" + PLAIN), e.SealShapeError),
    ("REC-37", "ends after Signed-By", mark("S", f"Signed-By: {KEY.verifier}\n"), e.SealShapeError),
    ("REC-38", "a record hash as signer", seal(PLAIN, signed_by=HASH_B), e.VerifierTextError),
    ("REC-38", "a short signer", seal(PLAIN, signed_by="V.0.H3"), e.VerifierTextError),
    ("REC-38", "loose bits", seal(PLAIN, signed_by="V." + "0" * 42 + "1.H3"), e.B64ATailError),
    ("REC-39", "a short signature", seal(PLAIN, signature="0" * 85), e.SignatureTextError),
    ("REC-39", "a long signature", seal(PLAIN, signature="0" * 87), e.SignatureTextError),
    ("REC-39", "loose bits in a signature", seal(PLAIN, signature="0" * 85 + "1"), e.B64ATailError),
    ("REC-40", "a signature of zeros", seal(PLAIN, signature=bytes(64)), e.SignatureInvalidError),
    (
        "REC-40",
        "another's signature",
        seal(PLAIN, signature=OTHER_KEY.sign_digest(PLEX.hash.digest)),
        e.SignatureInvalidError,
    ),
    (
        "REC-40",
        "another signer named",
        seal(PLAIN, signed_by=OTHER_KEY.verifier.text),
        e.SignatureInvalidError,
    ),
    (
        "REC-40",
        "a signature over another plex",
        seal(NO_EXTRAS, signature=SEAL.signature),
        e.SignatureInvalidError,
    ),
    (
        "REC-40",
        "the zero key as signer",
        seal(PLAIN, signed_by="V." + "0" * 43 + ".H3"),
        e.SignatureInvalidError,
    ),
    ("REC-40", "embedded plex changed", reseal_wrongly(), e.EmbeddedPlexDigestError),
    ("REC-43", "nine digits", tai("123456789:000000000"), e.TaiError),
    ("REC-43", "eleven digits", tai("12345678901:000000000"), e.TaiError),
    ("REC-43", "eight digits of subseconds", tai("1640995200:00000000"), e.TaiError),
    ("REC-43", "ten digits of subseconds", tai("1640995200:0000000000"), e.TaiError),
    ("REC-43", "a sign", tai("+640995200:000000000"), e.TaiError),
    ("REC-43", "a trailing space", tai("1640995200:000000000 "), e.TaiError),
    ("REC-43", "no subseconds", tai("1640995200"), e.TaiError),
    ("REC-43", "a dot", tai("1640995200.000000000"), e.TaiError),
    ("REC-43", "UTC text", tai("2022-01-01T00:00:00Z"), e.TaiError),
    ("REC-43", "digits of another script", tai("１640995200:000000000"), e.TaiError),
    ("REC-46", "empty segment in group", coordinate(group="eu//lab"), e.GroupEmptySegmentError),
    ("REC-47", "group starts with a slash", coordinate(group="/eu"), e.GroupSlashError),
    ("REC-47", "group ends with a slash", coordinate(group="eu/"), e.GroupSlashError),
    ("REC-47", "group is a slash", coordinate(group="/"), e.GroupSlashError),
    ("REC-48", "segment of 129 bytes", coordinate(group=SEG129), e.GroupSegmentTooLongError),
    (
        "REC-48",
        "segment of 130 bytes in 65 characters",
        coordinate(group="é" * 65),
        e.GroupSegmentTooLongError,
    ),
    ("REC-49", "group of 676 bytes beyond ASCII", coordinate(group=BEYOND676), e.GroupTooLongError),
    ("REC-56", "name of 676 bytes beyond ASCII", coordinate(name=BEYOND676), e.NameTooLongError),
    ("REC-49", "group of 676 bytes", coordinate(group=PATH675 + "c"), e.GroupTooLongError),
    *[("REC-50", f"{c} in group", coordinate(group=f"eu/lab{c}x"), e.GroupCharacterError) for c in "{}|#"],
    ("REC-51", ". in group", coordinate(group="eu/./lab"), e.GroupDotError),
    ("REC-51", ".. in group", coordinate(group=".."), e.GroupDotError),
    ("REC-52", "app starts with a slash", coordinate(app="/a"), e.AppPathError),
    ("REC-52", "app ends with a slash", coordinate(app="a/"), e.AppPathError),
    ("REC-52", "empty segment in app", coordinate(app="a//b"), e.AppPathError),
    ("REC-52", "segment of 129 bytes in app", coordinate(app=SEG129), e.AppPathError),
    ("REC-53", "app of 129 bytes", coordinate(app="a/" + "b" * 127), e.AppTooLongError),
    *[("REC-54", f"{c} in app", coordinate(app=f"a{c}"), e.AppSegmentError) for c in "{}|"],
    ("REC-54", ". in app", coordinate(app="a/."), e.AppSegmentError),
    ("REC-54", ".. in app", coordinate(app="../a"), e.AppSegmentError),
    ("REC-55", "name starts with a slash", coordinate(name="/n"), e.NamePathError),
    ("REC-55", "name ends with a slash", coordinate(name="n/"), e.NamePathError),
    ("REC-55", "empty segment in name", coordinate(name="n//m"), e.NamePathError),
    ("REC-55", "segment of 129 bytes in name", coordinate(name="n/" + SEG129), e.NamePathError),
    ("REC-56", "name of 676 bytes", coordinate(name=PATH675 + "c"), e.NameTooLongError),
    *[("REC-57", f"{c} in name", coordinate(name=f"n{c}"), e.NameSegmentError) for c in "{}|"],
    ("REC-57", ". in name", coordinate(name="."), e.NameSegmentError),
    ("REC-57", ".. in name", coordinate(name="n/../m"), e.NameSegmentError),
    ("REC-58", "extras out of order", extras("B: x\nA: x\n"), e.ExtraOrderError),
    ("REC-58", "order ignoring case", extras("a: x\nB: x\n"), e.ExtraOrderError),
    ("REC-59", "one name in two places", extras("A: x\nB: x\nA: y\n"), e.ExtraSplitError),
    ("REC-60", "513 extras", extras("".join(f"X: {n}\n" for n in range(513))), e.ExtraTooManyError),
    ("REC-60", "extras without end", mark("P", SPLIT + "X: y\n" * 200_000), e.ExtraTooManyError),
    *[
        ("REC-61", f"{name} as an extra", extras(f"{name}: x\n"), e.ExtraReservedError)
        for name in ("Data-Length", "Signed-By", "Signature", "⋯🖧")
    ],
    ("REC-61", "🖧 as an extra", extras("🖧: x\n"), e.HashTextError),
    ("REC-74", "a thin plex", plex(SPLIT, BLOB.hash.markline), e.ThinInnerError),
    ("REC-74", "a thin seal", seal(PLEX.hash.markline), e.ThinInnerError),
    ("REC-74", "a seal of a thin plex", seal(plex(SPLIT, BLOB.hash.markline)), e.ThinInnerError),
    ("REC-74", "a thin plex, then a blob", plex(SPLIT, BLOB.hash.markline + BLOB.encode()), e.ThinInnerError),
]
