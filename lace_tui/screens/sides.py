"""The rows of Resolve: what each side has, and the result so far, as harmless lines of a given width (APP-4).

A decision must not hang on what one cannot see: so lines are folded, and never cut (`numbered`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Literal

from textual.content import Content as Row
from textual.style import Style

from lace_tui.model.view import ID_SHOWN
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, STRONG, mark
from lace_tui.screens.numbered import Cell, Columns, Numbered, Table, fold, text_rows
from lace_tui.screens.texts import Joined
from lace_tui.words.inert import inert
from lazy.resolving.deciding import Choice, Pick, Piece, Worked
from lazy.resolving.opening import Content, Opened
from vault.commands import as_option
from vault.desks.merge_text import Region
from vault.names import Version
from vault.plural import bytes_text

__all__ = [
    "FILES",
    "Names",
    "chosen",
    "columns",
    "command_of",
    "facts",
    "result_rows",
    "unified",
]

Names = tuple[str, str]  # whose lines stand left and right, such as "yours" and "bob's"

FILES = "--files DIR"  # ends a command that takes texts from a directory, which one has to name
_KINDS = {"f": "file", "l": "link", "d": "folder"}
_CONTEXT = 4  # unchanged lines before and after something that was changed
_WAS = "$text-warning"  # what was there before
_SIGNS = {"ours": "<", "theirs": ">", "both": "="}  # whose lines they are that nobody has to decide
_UNCHANGED = {"left": "theirs", "right": "ours"}  # which lines a side has as they were

_Beside = tuple[str, bytes] | None  # a line and its sign, or nothing where the other column has more


def _near(pieces: Sequence[Piece], at: int) -> tuple[range, range]:
    """Return which lines of an unchanged piece stand next to something changed: its first and its last ones."""
    count = len(pieces[at].region.base)
    head = 0 if at == 0 else _CONTEXT
    tail = 0 if at == len(pieces) - 1 else _CONTEXT
    if head + tail + 1 >= count:
        return range(count), range(0)
    return range(head), range(count - tail, count)


def _pairs(region: Region, *, with_base: bool) -> Iterator[tuple[_Beside, _Beside]]:
    """Yield what stands beside each other of lines that somebody changed: what each side took away, and what it has.

    A side that did not change them has them as they were. What was taken away is shown where nothing came instead, too:
    else a deletion would be seen nowhere.
    """
    is_mine, is_yours = region.kind != "theirs", region.kind != "ours"
    was, still = ([(sign, line) for line in region.base] for sign in "- ")
    ours, theirs = ([("+", line) for line in lines] for lines in (region.ours, region.theirs))
    if with_base or (region.kind != "conflict" and not region.merged):
        yield from zip(was if is_mine else still, was if is_yours else still, strict=True)
        yield from zip_longest(ours, theirs)
    else:
        yield from zip_longest(ours if is_mine else still, theirs if is_yours else still)


class _Column:
    """One side, and at which of its lines one is."""

    def __init__(self) -> None:
        self._number = 1

    def skip(self, count: int) -> None:
        self._number += count

    def cell(self, beside: _Beside, style: str) -> Cell:
        """Return a line as it is to be shown; it counts where the side has it."""
        if beside is None:
            return None
        sign, line = beside
        if sign == "-":
            return Numbered(0, sign, line, _WAS)
        self._number += 1
        return Numbered(self._number - 1, sign, line, QUIET if sign == " " else style)


def columns(worked: Worked, current: int, names: Names, *, with_base: bool, width: int) -> Columns:
    """Return the two sides in two columns of that width each; `names` says whose they are."""
    table = Table(2, width)
    sides = _Column(), _Column()
    for at, piece in enumerate(worked.pieces):
        if piece.region.kind == "same":
            _add_unchanged(table, sides, worked.pieces, at)
            continue
        if piece.number:
            table.begin(piece.number)
            table.same(_title(piece, current, names))
        (left, right), styles = sides, _styles(piece)
        for mine, yours in _pairs(piece.region, with_base=with_base):
            table.add(left.cell(mine, styles[0]), right.cell(yours, styles[1]))
    return table.columns()


def _add_unchanged(table: Table, sides: Sequence[_Column], pieces: Sequence[Piece], at: int) -> None:
    """Add those of the unchanged lines of a piece that stand next to changed ones."""
    lines, (head, tail) = pieces[at].region.base, _near(pieces, at)
    for number in head:
        table.add(*(side.cell((" ", lines[number]), QUIET) for side in sides))
    if tail:
        table.same(mark(f"{'':5}... {tail.start - head.stop} equal lines", QUIET))
    for side in sides:
        side.skip(max(0, tail.start - head.stop))
    for number in tail:
        table.add(*(side.cell((" ", lines[number]), QUIET) for side in sides))


def _styles(piece: Piece) -> tuple[str, str]:
    """Return how the two sides of a piece look: what the result takes is strong, what it leaves is quiet."""
    match piece.choice:
        case None:
            return GOOD, NOTE
        case "left":
            return "bold " + GOOD, QUIET
        case "right":
            return QUIET, "bold " + NOTE
        case "base":
            return QUIET, QUIET
        case _:
            return "bold " + GOOD, "bold " + NOTE


def chosen(choice: Choice, names: Names) -> str:
    """Return a choice in words that name whose lines are taken."""
    left, right = names
    words = {
        "left": left,
        "right": right,
        "both": f"both, {left} first",
        "swapped": f"both, {right} first",
        "base": "as before",
    }
    return words[choice]


def _title(piece: Piece, current: int, names: Names) -> Row:
    is_here = piece.number == current
    word = f"= {chosen(piece.choice, names)}" if piece.choice else "? undecided"
    text = f"{'>' if is_here else ' '} region {piece.number}: {word} "
    return mark(text, f"{STRONG} reverse" if is_here else STRONG if piece.choice else BAD)


def unified(worked: Worked, current: int, names: Names, *, with_base: bool, width: int, only: str = "") -> Columns:
    """Return both sides in one column; `only` leaves one of them, "left" or "right"."""
    table = Table(1, width)
    column = _Column()  # of the right side where that alone is shown, else of the left one
    for at, piece in enumerate(worked.pieces):
        region = piece.region
        if region.kind == "same":
            _add_unchanged(table, [column], worked.pieces, at)
            continue
        if piece.number:
            table.begin(piece.number)
            table.same(_title(piece, current, names))
        if only and region.kind == _UNCHANGED[only]:
            for line in region.base:
                table.add(column.cell((" ", line), QUIET))
            continue
        for line in region.base if with_base or (not piece.number and not region.merged) else ():
            table.add(Numbered(0, "-", line, _WAS))
        for sign, line, style in _changed(piece, only):
            table.add(Numbered(0, sign, line, style))
        if not piece.number and not region.merged:
            table.same(mark(f"     {_SIGNS[region.kind]} (nothing)", QUIET))
        column.skip(_count(region, "theirs" if only == "right" else "ours"))
    return table.columns()


def _changed(piece: Piece, only: str) -> Iterator[tuple[str, bytes, str]]:
    """Yield the lines that a side changed with their signs and styles; what both have alike once."""
    region, (mine, yours) = piece.region, _styles(piece)
    if region.kind == "both":
        yield from (("=", line, mine) for line in region.ours)
        return
    yield from (("<", line, mine) for line in (region.ours if only != "right" else ()))
    yield from ((">", line, yours) for line in (region.theirs if only != "left" else ()))


def _count(region: Region, side: Literal["ours", "theirs"]) -> int:
    """Return how many lines a side has of a region."""
    other = "ours" if side == "theirs" else "theirs"
    return len(region.base if region.kind in {"same", other} else getattr(region, side))


def _asked(text: str, names: Names, *, is_here: bool) -> Row:
    """Return the line of a region that nobody decided; where the keys act on it, the mouse can press them too."""
    parts = [(f"l {names[0]}", "take_left"), (f"r {names[1]}", "take_right"), ("o both", "take_both")]
    parts.append(("e edit", "edit_here"))
    line = mark(text, BAD)
    for words, call in parts:
        part = mark(f"  {words}", BAD)
        line += part.stylize(Style.from_meta({"@click": f"screen.{call}"})) if is_here else part
    return line


def result_rows(worked: Worked, current: int, names: Names, width: int) -> Columns:
    """Return the result so far: its lines, and for each undecided region the keys that decide it."""
    table = Table(1, width)
    number = 1
    for at, piece in enumerate(worked.pieces):
        if piece.number:
            table.begin(piece.number)
        if piece.result is None:
            sign = ">" if piece.number == current else " "
            table.same(_asked(f"{sign} {number:>2} ? region {piece.number}:", names, is_here=piece.number == current))
            continue
        lines = piece.result
        if piece.region.kind == "same":
            head, tail = _near(worked.pieces, at)
            for n in head:
                table.add(Numbered(number + n, " ", lines[n], QUIET))
            if tail:
                table.same(mark(f"{'':5}... {tail.start - head.stop} equal lines", QUIET))
            for n in tail:
                table.add(Numbered(number + n, " ", lines[n], QUIET))
        else:
            sign = "=" if piece.number else _SIGNS[piece.region.kind]
            for n, line in enumerate(lines):
                table.add(Numbered(number + n, sign, line, STRONG if piece.number else ""))
            if not lines:
                table.same(mark(f"     {sign} (nothing)", QUIET))
        number += len(lines)
    return table.columns()


def _hex_text(head: bytes) -> str:
    """Return bytes in hexadecimal, in groups of four, with what of them is ASCII."""
    groups = " ".join(head[at : at + 4].hex() for at in range(0, len(head), 4))
    shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in head)
    return f"{groups}  {shown}"


def facts(content: Content | None, width: int, name: str = "") -> Sequence[Row]:
    """Return what can be told of a side whose lines cannot be compared, and its name where that is another."""
    if content is None:
        return [mark("  deleted here", BAD), mark("  Taking this side deletes the file.", QUIET)]
    kind = "program" if content.mode == "x" and content.kind == "f" else _KINDS.get(content.kind, content.kind)
    size = f"{content.size} bytes" if content.size < 1024 else f"{bytes_text(content.size)} ({content.size} bytes)"
    rows = [mark(f"  a {kind}, {size}")]
    if name:
        rows += [mark(f"  {part}") for part in fold(f"called {inert(name)}", width - 2)]
    rows += [mark(f"  {part}", QUIET) for part in fold(str(content.hash), width - 2)]
    if content.text is not None:
        return Joined(rows, [Row("")], text_rows(content.text, width))
    if content.kind == "l":
        rows.append(mark(f"  leads to {content.head.decode('utf-8', 'backslashreplace')}"))
    elif content.head:
        rows.append(mark("  begins with:", QUIET))
        for at in range(0, len(content.head), 12):
            rows.append(mark(f"  {_hex_text(content.head[at : at + 12])}", NOTE))
    return rows


def command_of(opened: Opened, picks: Mapping[str, Pick], version: Version) -> str:
    """Return the command that decides the same; texts that no word can give are its `--files`."""
    words = [f"lace resolve {opened.conflict.id[:ID_SHOWN]} --merged {version}"]
    left = opened.sides[0]  # of mine, the name is that of some side it was built upon
    sides = {"left": "local" if left.is_mine else left.name, "right": opened.sides[-1].name, "both": "both"}
    has_text = False
    for file in opened.files:
        pick = picks.get(file.path, Pick())
        path = as_option("--path", file.path)
        if pick.side is not None and pick.edited is None:
            side = opened.sides[pick.side]
            content = file.sides[pick.side]
            if side.word or not side.is_mine:
                words.append(f"{path} {as_option('--take', side.name)}")
            elif len(opened.sides) > 2 and content is not None and content.text is not None:
                has_text = True  # else others would merge with it; all else stays as in the folder without a word
        elif pick.edited is None and len(opened.sides) == 2 and all(c in sides for c in pick.regions.values()):
            chosen = [f"--region {n} {as_option('--take', sides[c])}" for n, c in sorted(pick.regions.items())]
            words.append(" ".join([path, *chosen]))
        else:
            has_text = True
    return " ".join([*words, *([FILES] if has_text else [])])
