"""Trees: canonical building, strict reading and bounds (CLAY-26 to 28)."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from hashlib import sha512

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.desks.support import GROUP, Model, empty, file, model_of, models, tree_of
from vault.desks import pages, paths
from vault.desks.chunks import MissingObject
from vault.desks.content import data_plex, tree_plex
from vault.desks.diff import diff_trees
from vault.desks.edit import apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.pages import (
    MAX_PAGE_BYTES,
    Entry,
    NamesClash,
    Page,
    PageRef,
    TreeError,
    TreeTooLarge,
    TwinNames,
    format_page,
    parse_page,
)
from vault.desks.paths import (
    BadPath,
    have_twins,
    illegal_elsewhere,
    is_plain,
    is_vault_name,
    leads_outside,
    name_problem,
    split_path,
    twin_key,
)
from vault.desks.sums import content_sha512
from vault.desks.tree import build_directory, lookup, read_directory, walk
from vault.errors import DataError
from vault.profile import MAX_DIRECT_BYTES
from vault.records import Plex, RecordHash, Tai, b64a, parse_record
from vault.records.errors import BlobTooLargeError, RecordError

H = RecordHash("P", bytes(32))
LINE = f"f - 1 {H.text} a\n".encode()


class Sums(dict[RecordHash, str]):
    """A sum cache in memory."""

    def expect(self, records: Sequence[RecordHash], /) -> dict[RecordHash, str | None]:
        return {record: self.get(record) for record in records}

    def put(self, sums: Mapping[RecordHash, str], /) -> None:
        self.update(sums)


def entries_of(count: int, start: int = 0) -> list[Entry]:
    return [Entry("f", "-", n, H, f"name{n:06}") for n in range(start, start + count)]


class Asked:
    """A sum cache that counts the questions a store would be asked."""

    def __init__(self) -> None:
        self.questions = 0
        self._sums: dict[RecordHash, str] = {}

    def expect(self, records: Sequence[RecordHash], /) -> dict[RecordHash, str | None]:
        """One question brings them all."""
        self.questions += 1
        return {record: self._sums.get(record) for record in records}

    def get(self, record: RecordHash, /) -> str | None:
        """One that is asked for alone is a question of its own."""
        self.questions += 1
        return self._sums.get(record)

    def put(self, sums: Mapping[RecordHash, str], /) -> None:
        """Keep values."""
        self._sums.update(sums)


@given(st.binary(max_size=200))
def test_content_is_the_record_that_the_formats_describe(content: bytes) -> None:
    # docs/formats.md section 1: the fast way makes the same record as the checked way, and it parses.
    for make, app in ((data_plex, "lace/data"), (tree_plex, "lace/tree")):
        slow = Plex.build(
            group=GROUP, app=app, name=b64a.encode(blake3(content).digest()), tai=Tai.ZERO, extras=(), data=content
        )
        fast = make(GROUP, content)
        assert fast == slow
        assert fast.hash == slow.hash
        assert parse_record(fast.encode()) == slow


def test_large_content_has_the_same_record_and_a_limit() -> None:
    content = b"\x01" * 100_000
    slow = Plex.build(
        group=GROUP, app="lace/data", name=b64a.encode(blake3(content).digest()), tai=Tai.ZERO, data=content
    )
    assert data_plex(GROUP, content).hash == slow.hash
    assert parse_record(data_plex(GROUP, content).encode()) == slow
    with pytest.raises(BlobTooLargeError):
        data_plex(GROUP, bytes(MAX_DIRECT_BYTES + 1))
    with pytest.raises(RecordError):
        data_plex("a\nApp: b", b"")


@given(models())
def test_a_tree_gives_back_its_files(model: Model) -> None:
    # CLAY-10, CLAY-22
    objects = MemoryObjects()
    root = tree_of(objects, model)
    assert model_of(objects, root) == model
    for path, content in model.items():
        entry = lookup(objects, root, path)
        assert entry is not None
        assert objects.content(entry.hash) == content
        assert lookup(objects, root, path + "/x") is None
    assert lookup(objects, root, "nothing") is None


@pytest.mark.parametrize("count", [0, 1, 512, 513, 600, 3_000, 21_000])
def test_equal_directories_have_equal_records_whatever_the_order(count: int) -> None:
    # CLAY-12, CLAY-27: also across page cuts, and however the directory came to be.
    objects = MemoryObjects()
    entries = entries_of(count)
    root, size = build_directory(GROUP, entries, objects)
    shuffled = entries[:]
    random.Random(count).shuffle(shuffled)
    assert build_directory(GROUP, shuffled, MemoryObjects()) == (root, size)
    grown = build_directory(GROUP, entries[: count // 2], objects)[0]
    assert apply_changes(objects.of(GROUP), grown, {e.name: e for e in entries[count // 2 :]}) == root
    assert read_directory(objects, root, size=sum(range(count))) == tuple(entries)
    assert size == sum(range(count))
    if count:
        assert lookup(objects, root, "name000000") == entries[0]
        assert lookup(objects, root, f"name{count - 1:06}") == entries[-1]
    assert lookup(objects, root, "name") is None
    assert lookup(objects, root, "zzz") is None


def test_the_seed_example_does_not_depend_on_order() -> None:
    # CLAY-27: six paths in any order, one hash.
    paths = ["greeting", "greeting/en", "greeting/de", "parting/en", "parting/de", "note"]
    roots = set()
    for seed in range(20):
        objects = MemoryObjects()
        root = None
        order = paths[1:]
        random.Random(seed).shuffle(order)
        for path in order:
            root = apply_changes(objects.of(GROUP), root, {path: file(objects, path.encode())})
        roots.add(root)
    assert len(roots) == 1


@pytest.mark.parametrize("count", [512, 513, 5_000])
def test_a_directory_is_cut_into_pages_as_the_formats_say(count: int) -> None:
    # CLAY-26: docs/formats.md section 2, cut here by hand
    names = [f"x{number:05}" for number in range(count)]
    objects = MemoryObjects()
    root, _ = build_directory(GROUP, [Entry("f", "-", 1, H, name) for name in names], objects)
    if count == 512:
        assert len(objects) == 1
        return
    cuts, since = [], 0
    for at, name in enumerate(names, 1):
        if at - since == 1024 or blake3(f"lace-tree-cut/0 0 {name}".encode()).digest()[0] == 0 or at == count:
            cuts.append((names[since], at - since))
            since = at
    top = parse_page(objects.content(root) or b"")
    assert top.level == 1
    assert [(item.name, item.entries) for item in top.items if isinstance(item, PageRef)] == cuts
    assert count == 513 or max(entries for _, entries in cuts) == 1024


def test_one_change_in_a_large_directory_makes_few_new_pages() -> None:
    # docs/formats.md section 2: a change touches the pages on its path only.
    objects = MemoryObjects()
    root = build_directory(GROUP, entries_of(21_000), objects)[0]
    pages = len(objects)
    assert pages > 40
    apply_changes(objects.of(GROUP), root, {"name010000": None})
    apply_changes(objects.of(GROUP), root, {"name010000x": Entry("f", "-", 1, H, "x")})
    assert len(objects) - pages <= 8


def test_a_lookup_reads_only_pages_on_the_way() -> None:
    objects = MemoryObjects()
    root = build_directory(GROUP, entries_of(21_000), objects)[0]
    reads = []

    class Counting(MemoryObjects):
        def content(self, record: RecordHash, /) -> bytes | None:
            reads.append(record)
            return super().content(record)

    assert lookup(Counting(objects), root, "name012345") is not None
    assert len(reads) == 2


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"lace-tree/0 0",
        b"lace-tree/0 00\n",
        b"lace-tree/0 9\n",
        b"lace-tree/0 x\n",
        b"lace-tree/1 0\n",
        b"lace-tree/0 0\n\n",
        b"lace-tree/0 0\n" + LINE[:-1],
        b"lace-tree/0 0\r\n" + LINE,
        b"lace-tree/0 0\n" + LINE + LINE,
        b"lace-tree/0 0\n" + LINE.replace(b" a", b" b") + LINE,
        b"lace-tree/0 0\n" + LINE.replace(b"f -", b"g -"),
        b"lace-tree/0 0\n" + LINE.replace(b"f -", b"d x"),
        b"lace-tree/0 0\n" + LINE.replace(b"f -", b"l x"),
        b"lace-tree/0 0\n" + LINE.replace(b" 1 ", b" 01 "),
        b"lace-tree/0 0\n" + LINE.replace(b" 1 ", b" -1 "),
        b"lace-tree/0 0\n" + LINE.replace(b" 1 ", " ١ ".encode()),
        b"lace-tree/0 0\n" + LINE.replace(b" 1 ", b" 9999999999999999999 "),
        b"lace-tree/0 0\n" + LINE.replace(b"P.", b"B."),
        b"lace-tree/0 0\n" + LINE.replace(b"0.H3", b"1.H3"),
        b"lace-tree/0 0\n" + LINE.replace(b" a\n", b" \n"),
        b"lace-tree/0 0\n" + LINE.replace(b" a\n", b" ..\n"),
        b"lace-tree/0 0\n" + LINE.replace(b" a\n", b" .\n"),
        b"lace-tree/0 0\n" + LINE.replace(b" a\n", b" a/b\n"),
        b"lace-tree/0 0\n" + LINE.replace(b" a\n", b" /etc\n"),
        b"lace-tree/0 0\n" + LINE.replace(b" a\n", b" a\0b\n"),
        b"lace-tree/0 0\n" + LINE.replace(b" a\n", b" a\x1bb\n"),
        b"lace-tree/0 0\n" + LINE.replace(b" a\n", b" a\xff\n"),
        b"lace-tree/0 0\n" + LINE.replace(b" a\n", " e\u0301\n".encode()),
        b"lace-tree/0 0\n" + LINE.replace(b" a\n", b" " + b"a" * 256 + b"\n"),
        b"lace-tree/0 1\n" + LINE,
        b"lace-tree/0 1\n" + f"p 1 1 {H.text} a\n".encode(),
        b"lace-tree/0 0\n" + b" " * MAX_PAGE_BYTES,
        b"lace-tree/0 0\n" + b"".join(format_page(Page(0, (e,)))[14:] for e in entries_of(1025)),
    ],
)
def test_a_page_with_a_byte_out_of_place_is_refused(body: bytes) -> None:
    # APP-12, faults 16: strict, and traversal never gets past the parser.
    with pytest.raises(TreeError):
        parse_page(body)


@given(st.binary(max_size=120))
def test_a_parser_never_fails_otherwise_and_accepts_one_spelling(noise: bytes) -> None:
    for body in (noise, b"lace-tree/0 0\n" + noise, b"lace-tree/0 0\n" + LINE + noise):
        try:
            page = parse_page(body)
        except DataError:
            continue
        assert format_page(page) == body


@given(st.lists(st.tuples(st.sampled_from("fld"), st.integers(0, 1 << 40), st.binary(min_size=32, max_size=32))))
def test_what_a_page_lists_is_read_alike_in_full_and_in_short(parts: list[tuple[str, int, bytes]]) -> None:
    """Names that look like the rest of a line, and pages of pages, included."""
    items = [
        Entry(kind, "-", size, RecordHash("P", digest), f"{number:03} f - 1 {H.text} ä")
        for number, (kind, size, digest) in enumerate(parts)
    ]
    upper = [PageRef(each.size % 9 + 1, each.size, each.hash, each.name) for each in items]
    bodies = [format_page(Page(0, tuple(items)))] + [format_page(Page(1, tuple(upper)))] * (len(upper) > 1)
    for body in bodies:
        pages.kept.forget()
        in_short = pages.listed(body)
        assert in_short == pages.listed(body) == [item.hash for item in parse_page(body).items]
        assert in_short == pages.listed(body)
        assert pages.has_large(body) >= any(
            item.kind == "f" and item.size > MAX_DIRECT_BYTES
            for item in parse_page(body).items
            if isinstance(item, Entry)
        )


def test_what_a_damaged_page_lists_is_not_guessed() -> None:
    with pytest.raises(TreeError):
        pages.listed(b"lace-tree/0 0\n" + LINE + LINE.replace(b"P.", b"B."))


def put(objects: MemoryObjects, page: Page) -> RecordHash:
    plex = tree_plex(GROUP, format_page(page))
    objects.add(plex)
    return plex.hash


def test_pages_with_wrong_sums_or_cuts_are_refused() -> None:
    # APP-12: what a page says of another is compared, and a directory has one form only.
    objects = MemoryObjects()
    good = read_directory(objects, build_directory(GROUP, entries_of(2000), objects)[0])
    halves = [put(objects, Page(0, good[:1000])), put(objects, Page(0, good[1000:]))]

    def page(first: tuple[int, int, str], second: tuple[int, int, str]) -> RecordHash:
        refs = [PageRef(n, s, h, name) for (n, s, name), h in zip((first, second), halves, strict=True)]
        return put(objects, Page(1, tuple(refs)))

    one, two = (1000, sum(range(1000)), "name000000"), (1000, sum(range(1000, 2000)), "name001000")
    for root, words in [
        (page(one, two), "cut"),
        (page((999, *one[1:]), two), "sums"),
        (page((1000, 5, one[2]), two), "sums"),
        (page((1000, one[1], "name000"), two), "belongs"),
        (put(objects, Page(0, good[:600])), "cut"),
        (put(objects, Page(2, (PageRef(5, 5, halves[0], "a"), PageRef(5, 5, halves[1], "b")))), "belongs"),
        (put(objects, Page(1, (PageRef(999_999, 5, H, "a"), PageRef(5, 5, H, "b")))), "more than"),
    ]:
        with pytest.raises(TreeError, match=words):
            read_directory(objects, root)
    with pytest.raises(TreeError, match="said"):
        read_directory(objects, put(objects, Page(0, good[:3])), size=7)


def test_twins_are_refused_in_building_and_reading() -> None:
    # APP-12: NFC and case folding
    objects = MemoryObjects()
    pairs = [("README", "readme"), ("é", "É"), ("straße", "STRASSE"), ("ﬁ", "fi")]
    for one, two in pairs:
        entries = tuple(sorted((Entry("f", "-", 0, H, one), Entry("f", "-", 0, H, two)), key=lambda e: e.name))
        with pytest.raises(NamesClash):
            build_directory(GROUP, entries, objects)
        with pytest.raises(TwinNames):
            read_directory(objects, put(objects, Page(0, entries)))
    assert twin_key("e\u0301") == twin_key("É")


def test_what_is_missing_is_named() -> None:
    objects = MemoryObjects()
    root = tree_of(objects, {"d/a": b"1"})
    entry = lookup(objects, root, "d")
    assert entry is not None
    partial = MemoryObjects()
    for plex in objects:
        if plex.hash != entry.hash:
            partial.add(plex)
    with pytest.raises(MissingObject, match=entry.hash.text) as caught:
        list(walk(partial, root))
    assert caught.value.record == entry.hash
    assert lookup(partial, root, "d") == entry


def test_a_directory_that_was_read_is_missing_where_a_page_of_it_is() -> None:
    # CLAY-27: what is kept of a directory stands for pages that are here, and for no other size than theirs
    objects = MemoryObjects()
    root = tree_of(objects, {f"name-{number}": b"1" for number in range(2_000)})
    entries = read_directory(objects, root)
    assert read_directory(objects, root) == entries
    assert len(entries) == 2_000
    parts = [item.hash for item in parse_page(objects.content(root) or b"").items]
    for gone in (root, parts[-1]):
        partial = MemoryObjects()
        for plex in objects:
            if plex.hash != gone:
                partial.add(plex)
        with pytest.raises(MissingObject, match=gone.text):
            read_directory(partial, root)
    with pytest.raises(TreeError):
        read_directory(objects, root, size=1)


def test_depth_and_unfolding_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    # faults 16: nesting cannot be a cycle, but it can be deep, and equal directories can unfold without end.
    objects = MemoryObjects()
    root, size = empty(objects), 0
    for _ in range(130):
        root, size = build_directory(GROUP, [Entry("d", "-", size, root, "d")], objects)
    with pytest.raises(TreeTooLarge):
        list(walk(objects, root))
    with pytest.raises(TreeTooLarge):
        list(diff_trees(objects, None, root))
    root = empty(objects)
    for _ in range(8):
        root = build_directory(GROUP, [Entry("d", "-", 0, root, f"d{n}") for n in range(500)], objects)[0]
    monkeypatch.setattr("vault.desks.tree.MAX_TREE_ENTRIES", 20_000)
    monkeypatch.setattr("vault.desks.diff.MAX_TREE_ENTRIES", 20_000)
    for unfold in (walk(objects, root), diff_trees(objects, None, root)):
        with pytest.raises(TreeTooLarge):
            list(unfold)
    assert content_sha512(objects, root, Sums())  # each directory once, however often it stands there


def test_content_sum_is_as_the_formats_say_and_is_kept() -> None:
    # CYB: docs/formats.md section 2, computed here by hand
    objects = MemoryObjects()
    root = tree_of(objects, {"a": b"1", "d/x": b"22"})
    below = sha512(f"f - 2 {sha512(b'22').hexdigest()} x\n".encode()).hexdigest()
    whole = f"f - 1 {sha512(b'1').hexdigest()} a\nd - 2 {below} d\n"
    cache = Sums()
    assert content_sha512(objects, root, cache) == sha512(whole.encode()).hexdigest()
    assert content_sha512(MemoryObjects(), root, cache) == sha512(whole.encode()).hexdigest()


def test_the_sums_of_sub_directories_are_asked_for_together() -> None:
    # CLAY-28: what is known of a folder's sub-directories costs one question, however many there are
    objects, cache = MemoryObjects(), Asked()
    files = {f"d{number}/x": b"22" for number in range(100)}
    content_sha512(objects, tree_of(objects, files), cache)
    cache.questions = 0
    root = tree_of(objects, files | {"new/x": b"22"})
    assert content_sha512(objects, root, cache) == content_sha512(objects, root, Sums())
    assert cache.questions <= 5  # the tree, its directories, the one that is new, and its file


def test_calling_a_tree_a_file_does_not_poison_kept_sums() -> None:
    objects = MemoryObjects()
    inner = tree_of(objects, {"x": b"22"})
    body = objects.content(inner)
    assert body is not None
    cache = Sums()
    hostile = build_directory(GROUP, [Entry("f", "-", len(body), inner, "f")], objects)[0]
    content_sha512(objects, hostile, cache)
    assert content_sha512(objects, inner, cache) == content_sha512(objects, inner, Sums())


def test_of_a_directory_that_is_refused_no_sum_is_kept_that_was_at_hand() -> None:
    """APP-13: a check has other contents at hand than whoever met it first, and both must keep the same."""
    objects, cache = MemoryObjects(), Sums()
    one, two = file(objects, b"1")._replace(name="a"), file(objects, b"22")._replace(name="b", size=3)
    wrong = build_directory(GROUP, [one, two], objects)[0]
    at_hand = {(one.hash, one.size): sha512(b"1").hexdigest()}
    with pytest.raises(TreeError):
        content_sha512(objects, wrong, cache, lambda *asked: at_hand.get(asked))
    assert not cache


@pytest.mark.parametrize("path", ["/etc/passwd", "..", "a/../b", "a//b", "a/", "./a", "a\0b", "a\nb", "C/" * 200 + "a"])
def test_paths_that_lead_elsewhere_are_refused(path: str) -> None:
    # APP-12, faults 16
    with pytest.raises(BadPath):
        split_path(path)


def test_a_byte_that_is_no_text_is_named_as_the_lists_of_files_show_it() -> None:
    """APP-14: it stood there as Python carries it, which nobody can type."""
    with pytest.raises(BadPath, match=re.escape(r"The path 'a\xff\n' cannot be used: 'a\xff\n' ")):
        split_path("a\udcff\n")


def test_names_are_checked_and_notices_are_only_notices() -> None:
    assert split_path("a b/ü.txt") == ("a b", "ü.txt")
    assert split_path("") == ()
    assert len(split_path("a/" * 127 + "b")) == 128
    assert split_path("/".join(["é" * 120] * 16 + ["a" * 240])) != ()  # 4,096 bytes
    for path in ["a/" * 128 + "b", "/".join(["é" * 120] * 16 + ["a" * 241])]:
        with pytest.raises(BadPath):
            split_path(path)
    assert split_path("CON") == ("CON",)
    for name in [
        "CON", "nul.txt", "com1", "LPT9.x", "a.", "a ", "a:b", "a?", 'a"', "a\\b", "COM¹", "com0", "LPT0",
        "lpt³.x", "aux", "PRN",
    ]:  # fmt: skip
        assert illegal_elsewhere(name)
    for name in ["console", "a.b", ".a", "com", "com10", "nulls.txt"]:
        assert not illegal_elsewhere(name)
    for name in ["e\u0301", "", "a" * 256, "é" * 128, "\ud800", "a\x85b"]:
        with pytest.raises(BadPath):
            split_path(f"a/{name}")


def test_names_that_a_disk_may_take_for_the_vault() -> None:
    # APP-12: a friend's tree must not reach into .vault
    for name in [
        ".vault", ".VAULT", ".vault.", ".vault ", ".va\u200cult", ".vault::$DATA", "VAULT~1",
        "vault~12", "．ｖａｕｌｔ",
    ]:  # fmt: skip
        assert is_vault_name(name), name
    for name in ["vault", ".vaults", "my.vault", ".vault2"]:
        assert not is_vault_name(name), name


ODD_NAMES = st.lists(
    st.sampled_from(
        ["con", "COM1", "lpt\u00b9", "conin$", "vault", "~1", ".", " ", ":", "/", "\n", "\x7f", "\u017f", "a", "-"]
    ),
    max_size=6,
).map("".join)


@given(ODD_NAMES)
def test_a_plain_name_is_one_that_no_rule_says_anything_of(name: str) -> None:
    # APP-12: who asks whether it is plain asks no rule
    plain = is_plain(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "_PLAIN", re.compile("(?!)"))
        assert not (plain and (name_problem(name) or illegal_elsewhere(name) or is_vault_name(name)))


def test_most_names_are_plain() -> None:
    for name in ["a", "a.txt", "IMG_0001 (1).jpeg", "console", "com10", "a" * 255]:
        assert is_plain(name), name
    for name in ["", ".a", "a.", "a ", "a" * 256, "com1.txt", "aux .x", "a/b", "a\n", "\u00e9"]:
        assert not is_plain(name), name


@given(st.lists(st.text("aA\u00e9\u00c9e\u0301", min_size=1, max_size=3), unique=True))
def test_twins_are_found_among_many_names(names: list[str]) -> None:
    # APP-12
    assert have_twins(names) == (len(set(map(twin_key, names))) < len(names))


def test_link_targets() -> None:
    # APP-12, faults 17: judged by text, so a link to a link cannot lead out either
    for path, target in [
        ("l", "/etc"), ("l", ".."), ("d/l", "../../x"), ("d/l", "a/../../x"), ("l", "a/../b"), ("l", "C:\\x"),
        ("l", "\\\\host"), ("l", "..\\x"), ("l", ".vault/key"), ("d/l", "../.VAULT"), ("l", "a\0b"), ("l", ""),
        ("d/l", "a/.."), ("d/e/l", "../a/../b"),
    ]:  # fmt: skip
        assert leads_outside(path, target), (path, target)
    for path, target in [("l", "a"), ("l", "a/b"), ("d/l", "../a"), ("a/b/l", "../../c/d"), ("l", "./a"), ("l", "..a")]:
        assert not leads_outside(path, target), (path, target)


@given(st.sets(st.integers(0, 3_000), max_size=300), st.sampled_from(["file", "Straße", "名", "a b"]))
def test_a_page_that_was_just_built_is_the_one_that_its_body_says(numbers: set[int], name: str) -> None:
    # CLAY-26: what is kept of building it must never differ from what anybody else reads.
    sink = MemoryObjects()
    modes = {0: ("f", "-"), 1: ("f", "x"), 2: ("l", "-"), 3: ("d", "-")}
    build_directory(GROUP, [Entry(*modes[n % 4], n, H, f"{name} {n}") for n in numbers], sink)
    for plex in sink:
        kept = parse_page(plex.blob.data)
        pages.kept.forget()
        assert parse_page(plex.blob.data) == kept
        assert [type(item) for item in kept.items] == [type(item) for item in parse_page(plex.blob.data).items]


def test_a_tree_of_many_files_is_taken_apart_once_however_often_it_is_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a release and a first meeting do: a folder of 100,000 files was taken apart anew by each walk."""
    source, count = MemoryObjects(), 0
    folders = []
    for number in range(64):
        files = [Entry("f", "-", 1, H, f"{number:02} {name:03}") for name in range(512)]
        root, size = build_directory(GROUP, files, source)
        folders.append(Entry("d", "-", size, root, f"{number:02}"))
    root, _ = build_directory(GROUP, folders, source)
    pages.kept.forget()
    read = pages._page

    def counting(body: bytes) -> Page:
        nonlocal count
        count += 1
        return read(body)

    monkeypatch.setattr(pages, "_page", counting)
    first, before = list(diff_trees(source, None, root)), count
    assert before > 64
    assert list(diff_trees(source, None, root)) == first
    assert count == before
