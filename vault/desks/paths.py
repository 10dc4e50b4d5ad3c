"""Names and relative paths that may stand in a tree (APP-12, docs/formats.md section 2).

What is checked here never touches a disk. A name that breaks a rule of the format is refused; a name that
only some disks cannot carry is reported, because the friend whose disk can carry it did nothing wrong.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import count
from unicodedata import category, is_normalized, normalize

from vault.errors import DataError
from vault.visible import visible

__all__ = [
    "DOT_VAULT",
    "MAX_DEPTH",
    "MAX_NAME_BYTES",
    "MAX_PATH_BYTES",
    "TEMP_NAME",
    "VAULT_FILES",
    "BadPath",
    "FolderPath",
    "files_in",
    "folders_above",
    "have_twins",
    "illegal_elsewhere",
    "is_at_or_below",
    "is_plain",
    "is_system_name",
    "is_vault_name",
    "join",
    "leads_outside",
    "link_problem",
    "name_problem",
    "reserved_name",
    "split_path",
    "temporary_names",
    "twin_key",
]

DOT_VAULT = ".vault"
VAULT_FILES = frozenset({".gitignore", "lock", "store.db"})
"""What every vault holds, and so a copy of one under another name."""
MAX_NAME_BYTES = 255  # what every file system in use allows for one name
MAX_PATH_BYTES = 4096
MAX_DEPTH = 128  # names in a path

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_RESERVED_CHARACTERS = re.compile(r'[<>:"\\|?*]')
_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
_SHORT_VAULT = r"vault~[0-9]+"
TEMP_NAME = re.compile(r"\.lace-checkout-[0-9]+\.tmp")
"""What a checkout calls a file or folder that is not whole yet; no scan takes one in."""
# What Windows writes by itself has names that look like anybody's; those of other systems are hidden.
_SYSTEM_PLAIN = r"thumbs\.db|ehthumbs(?:_vista)?\.db|desktop\.ini|system volume information"
_SYSTEM = re.compile(
    rf"{_SYSTEM_PLAIN}|\$recycle\.bin|\._.+|\.(?:ds_store|appledouble|apdisk|fseventsd|spotlight-v100|temporaryitems"
    r"|trashes|documentrevisions-v100)|\.(?:trash-|nfs|fuse_hidden)[0-9a-f]+",
    re.IGNORECASE | re.DOTALL,
)
# Most names; what none of the rules below could say anything of.
_PLAIN = re.compile(
    rf"(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9]) *(?:\.|\Z)|(?:{_SYSTEM_PLAIN})\Z)"
    rf"[0-9a-z_](?:[0-9a-z_ .,;+=@#()-]{{,{MAX_NAME_BYTES - 2}}}[0-9a-z_)])?",
    re.IGNORECASE | re.ASCII,
)


class FolderPath(str):
    """A path at which a tree has, or had, an empty folder: a path like any other that counts as no file."""

    __slots__ = ()


def is_at_or_below(path: str, named: Collection[str]) -> bool:
    """Tell whether a person named a path or what it lies in; an empty one is all."""
    return any(not name or path == name or path.startswith(name + "/") for name in named)


def files_in(paths: Iterable[str]) -> int:
    """Count the files among paths that differ between two trees."""
    kinds = list(map(type, paths))
    return len(kinds) - kinds.count(FolderPath)


class BadPath(DataError):
    """A name or path that no tree may hold, or a link that leads out of the shared folder."""

    code = "bad-path"
    exit_code = 40
    hint = "Rename the file: 1 to 255 bytes, no control character, no slash, not . or .."


def temporary_names() -> Iterator[str]:
    """Yield names of the form of `TEMP_NAME`, without end: no file of a person's has one."""
    return (f".lace-checkout-{number}.tmp" for number in count())


def is_plain(name: str) -> bool:
    """Tell whether a tree can hold this name, and no disk has trouble with it, as is mostly seen at once.

    It is none that a system writes by itself either.
    """
    return _PLAIN.fullmatch(name) is not None


def is_system_name(name: str) -> bool:
    """Tell whether a system writes files or folders of this name by itself, which say nothing to anybody else."""
    return _SYSTEM.fullmatch(name) is not None


def name_problem(name: str) -> str:  # noqa: PLR0911 - one for each rule
    """Return why a tree cannot hold this name, as the end of a sentence; empty when it can."""
    if _PLAIN.fullmatch(name) is not None:
        return ""
    if name in {"", ".", ".."}:
        return "is not a name of a file"
    if "/" in name:
        return "holds a slash"
    if _CONTROL.search(name) is not None:
        return "holds a control character"
    if name.isascii():
        return f"is longer than {MAX_NAME_BYTES} bytes" if len(name) > MAX_NAME_BYTES else ""
    try:
        raw = name.encode()
    except UnicodeEncodeError:
        return "is not valid UTF-8"
    if len(raw) > MAX_NAME_BYTES:
        return f"is longer than {MAX_NAME_BYTES} bytes"
    return "" if is_normalized("NFC", name) else "is not in Unicode normalisation form C"


def split_path(path: str) -> tuple[str, ...]:
    """Return the names of a path relative to the desk; the empty path is the desk itself.

    Raises:
        BadPath: the path is absolute, too long or too deep, or one of its names is not allowed.
    """
    if not path:
        return ()
    names = tuple(path.split("/"))
    if len(names) > MAX_DEPTH:
        raise BadPath(f"The path {_shown(path)} has more than {MAX_DEPTH} names.")
    for name in names:
        problem = name_problem(name)
        if problem:
            raise BadPath(f"The path {_shown(path)} cannot be used: {_shown(name)} {problem}.")
    if len(path) * 4 > MAX_PATH_BYTES and len(path.encode()) > MAX_PATH_BYTES:
        raise BadPath(f"The path {_shown(path)} is longer than {MAX_PATH_BYTES} bytes.")
    return names


def join(directory: str, name: str) -> str:
    """Return the path of a name in a directory; the empty directory is the desk itself."""
    return f"{directory}/{name}" if directory else name


def folders_above(path: str) -> list[str]:
    """Return the directories above a path, the outermost first; of one at the top none."""
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(1, len(names))]


def twin_key(name: str) -> str:
    """Return what two names have in common when some disks cannot hold both: NFC and case folded (APP-12)."""
    if name.isascii():
        return name.lower()
    return normalize("NFC", normalize("NFC", name).casefold())


def have_twins(names: Collection[str]) -> bool:
    """Tell whether two of these names are equal to some disks; see `twin_key`."""
    joined = "/".join(names)
    keys = joined.lower().split("/") if joined.isascii() else map(twin_key, names)
    return len(set(keys)) < len(names)


def is_vault_name(name: str) -> bool:
    """Tell whether some file system may take this name for `.vault`.

    Besides other cases these are trailing dots and spaces and streams (NTFS), characters without width
    (HFS+) and the short alias (FAT). Writing such a name from a friend's tree could change the vault itself.
    """
    if "vault" not in name.lower() and name.isascii():
        return False
    plain = "".join(c for c in normalize("NFKC", name).casefold() if category(c) != "Cf")
    plain = plain.partition(":")[0].rstrip(". ")
    return plain == ".vault" or re.fullmatch(_SHORT_VAULT, plain) is not None


def reserved_name(name: str) -> str:
    """Return why a friend's tree brings no file under this name on any disk, as the end of a sentence, or nothing.

    A scan takes neither in, so that what comes under such a name would count as deleted at once (APP-12). Some disks
    take other letter case for the same name; a person's file that has it is a person's file.
    """
    if is_vault_name(name):
        return "has a name that some disks take for the vault itself"
    if name[:1] == "." and TEMP_NAME.fullmatch(name.lower()) is not None:
        return "has a name that lace gives to what is not whole yet"
    return ""


def illegal_elsewhere(name: str) -> str:
    """Return why Windows or a FAT stick cannot carry this name, as the end of a sentence, or nothing."""
    if _PLAIN.fullmatch(name) is not None:
        return ""
    if _DEVICES.fullmatch(name.partition(".")[0].rstrip(" ")) is not None:
        return "is the name of a device on Windows"
    if name[-1:] in {".", " "}:
        return "ends with a dot or a space, which Windows drops"
    found = _RESERVED_CHARACTERS.search(name)
    return f"holds {found[0]}, which Windows and FAT do not allow" if found is not None else ""


def leads_outside(path: str, target: str) -> str:
    """Return why the symbolic link at `path` must not be made, as the end of a sentence, or nothing.

    The target is judged by its text alone, so `..` may stand only at its start: after a name, which may be a
    link itself, nobody can tell where it leads (APP-12).
    """
    if not target or _CONTROL.search(target) is not None:
        return "has a target that is not a path"
    if target.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", target):
        return "points to an absolute path"
    depth = path.count("/")
    is_start = True
    for part in re.split(r"[/\\]", target):
        if part == "..":
            depth -= 1
            if depth < 0 or not is_start:
                return "may point outside the folder"
        elif part not in {"", "."}:
            if is_vault_name(part):
                return "points into a vault"
            is_start = False
    return ""


def _shown(text: str) -> str:
    """Return a path in quotes; a byte of it that is no text stands there as in every list of files."""
    short = text if len(text) <= 100 else text[:97] + "..."
    shown = visible(short, also="\\'")
    return repr(short) if visible(short) == short else f"'{shown}'"


def link_problem(path: str, target: bytes) -> str:
    """Return why a link of this target is not taken, or an empty string."""
    try:
        return leads_outside(path, target.decode())
    except UnicodeDecodeError:
        return "has a target that is not valid UTF-8"
