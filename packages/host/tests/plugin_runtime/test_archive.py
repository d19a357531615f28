"""Untrusted zip files: good ones are unpacked, bad ones are refused before any byte is written."""

import stat
import struct
import tempfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.plugin_runtime.packages import zip_directory
from parlour.plugin_runtime.packages.archive import SizeLimits, unpack
from parlour_sdk.plugin import PluginInvalid

LIMITS = SizeLimits(files=50, bytes=4 * 1024 * 1024)
Pack = Callable[[zipfile.ZipFile], object]


def entry(name: str, mode: int = 0) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    made.compress_type = zipfile.ZIP_DEFLATED
    return made


def packed(folder: Path, pack: Pack) -> Path:
    file = folder / "plugin.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        pack(opened)
    return file


def twice(first: str, second: str) -> Pack:
    def pack(opened: zipfile.ZipFile) -> None:
        opened.writestr(first, "1")
        opened.writestr(second, "2")

    return pack


def many(opened: zipfile.ZipFile) -> None:
    for number in range(LIMITS.files + 1):
        opened.writestr(f"{number}.txt", "x")


def one(name: str, content: str = "x", mode: int = 0) -> Pack:
    return lambda opened: opened.writestr(entry(name, mode), content)


BAD: dict[str, tuple[Pack, str]] = {
    "a path above": (one("../escaped.txt"), "leave"),
    "a path above in the middle": (one("a/../../escaped.txt"), "leave"),
    "an absolute path": (one("/escaped.txt"), "leave"),
    "an empty part": (one("a//b.txt"), "leave"),
    "a dot": (one("./a.txt"), "leave"),
    "a drive letter": (one("C:/escaped.txt"), "leave"),
    "a drive letter alone": (one("c:escaped.txt"), "leave"),
    "a backslash": (one("..\\escaped.txt"), "character"),
    "a line break in a name": (one("a\nb.txt"), "character"),
    "a symbolic link": (one("link", "/etc/passwd", stat.S_IFLNK | 0o777), "link or a device"),
    "a named pipe": (one("pipe", "", stat.S_IFIFO | 0o644), "link or a device"),
    "a character device": (one("zero", "", stat.S_IFCHR | 0o644), "link or a device"),
    "a block device": (one("disk", "", stat.S_IFBLK | 0o644), "link or a device"),
    "a socket": (one("socket", "", stat.S_IFSOCK | 0o644), "link or a device"),
    "names that differ by case": (twice("Main.py", "main.PY"), "case"),
    "folders that differ by case": (twice("Lib/a.py", "lib/A.py"), "case"),
    "names that differ by composition": (twice("caf\u00e9.py", "cafe\u0301.py"), "case"),
    "a file and a folder of one name": (twice("a", "a/b"), "case"),
    "a folder and a file of one name": (twice("a/b", "A"), "case"),
    "a name that is too long": (one("a" * 300), "too long"),
    "a path that is too long": (one("/".join(["a" * 100] * 20)), "too long"),
    "too many files": (many, "50 files"),
    "too many bytes": (one("zeros", "\0" * (LIMITS.bytes + 1)), f"{LIMITS.bytes} bytes"),
    "a ratio that no plugin has": (one("zeros", "\0" * (LIMITS.bytes - 1)), "claim"),
}


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "inner" / "target"
    folder.mkdir(parents=True)
    return folder


def untouched(target: Path, *but: Path) -> bool:
    """Asserts that no new file is in the target or around it."""
    above = target.parent.parent
    return {path for path in above.rglob("*") if path.is_file() or path.is_symlink()} == set(but)


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_zip_is_refused_and_nothing_of_it_is_written(tmp_path: Path, target: Path, fault: str) -> None:
    pack, reason = BAD[fault]
    file = packed(tmp_path, pack)

    with pytest.raises(PluginInvalid, match=rf"{reason}.*; (pack|put|rename|shorten|leave out) "):
        unpack(file, target, LIMITS)

    assert untouched(target, file)


def test_a_name_cut_by_a_zero_byte_is_refused(tmp_path: Path, target: Path) -> None:
    file = packed(tmp_path, one("good.txtXbad"))
    file.write_bytes(file.read_bytes().replace(b"good.txtXbad", b"good.txt\0bad"))

    with pytest.raises(PluginInvalid, match="character"):
        unpack(file, target, LIMITS)

    assert untouched(target, file)


def test_an_encrypted_entry_is_refused(tmp_path: Path, target: Path) -> None:
    file = packed(tmp_path, one("secret.txt"))
    content = bytearray(file.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    file.write_bytes(content)

    with pytest.raises(PluginInvalid, match="encrypted"):
        unpack(file, target, LIMITS)

    assert untouched(target, file)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_unusual_packing_is_refused(tmp_path: Path, target: Path, method: int) -> None:
    file = tmp_path / "plugin.zip"
    with zipfile.ZipFile(file, "w", method) as opened:
        opened.writestr("a.txt", "x" * 100)

    with pytest.raises(PluginInvalid, match="deflate"):
        unpack(file, target, LIMITS)

    assert untouched(target, file)


def test_a_zip_that_claims_two_gigabytes_is_refused_by_its_claim(tmp_path: Path, target: Path) -> None:
    file = packed(tmp_path, one("zeros", "\0" * 1000))
    content = bytearray(file.read_bytes())
    at = content.index(b"PK\x01\x02") + 24
    content[at : at + 4] = struct.pack("<I", 2 * 1024**3)
    file.write_bytes(content)

    with pytest.raises(PluginInvalid, match="bytes unpacked"):
        unpack(file, target, LIMITS)

    assert untouched(target, file)


def test_a_zip_that_claims_less_than_it_holds_writes_no_more_than_it_claimed(tmp_path: Path, target: Path) -> None:
    file = packed(tmp_path, one("zeros", "\0" * (3 * 1024 * 1024)))
    content = bytearray(file.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = content.index(signature) + offset
        content[at : at + 4] = struct.pack("<I", 1000)
    file.write_bytes(content)

    with pytest.raises(PluginInvalid, match="damaged"):
        unpack(file, target, LIMITS)

    assert sum(path.stat().st_size for path in target.rglob("*")) <= 1000


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and then nothing", b"\x00" * 1000])
def test_a_file_that_is_not_a_zip_is_refused(tmp_path: Path, target: Path, content: bytes) -> None:
    file = tmp_path / "plugin.zip"
    file.write_bytes(content)

    with pytest.raises(PluginInvalid, match="not a zip file"):
        unpack(file, target, LIMITS)


def test_a_damaged_zip_is_refused(tmp_path: Path, target: Path) -> None:
    file = packed(tmp_path, one("text.txt", "".join(map(chr, range(33, 126))) * 20))
    content = bytearray(file.read_bytes())
    content[60:80] = b"\xff" * 20
    file.write_bytes(content)

    with pytest.raises(PluginInvalid, match="damaged"):
        unpack(file, target, LIMITS)


def test_the_message_about_a_damaged_zip_has_the_given_file_name(tmp_path: Path, target: Path) -> None:
    file = tmp_path / "upload.zip"
    file.write_bytes(b"PK\x03\x04 and then nothing")

    with pytest.raises(PluginInvalid, match=r"^mine\.zip is not a zip file.*; pack the plugin's folder again$"):
        unpack(file, target, LIMITS, "mine.zip")


def test_a_zip_with_offsets_before_its_beginning_is_refused_as_damaged(tmp_path: Path, target: Path) -> None:
    file = packed(tmp_path, one("text.txt"))
    content = bytearray(file.read_bytes())
    at = content.index(b"PK\x05\x06") + 16
    content[at : at + 4] = struct.pack("<I", 2**31)
    file.write_bytes(content)

    with pytest.raises(PluginInvalid, match="damaged"):
        unpack(file, target, LIMITS)


@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=8))
@settings(max_examples=200, deadline=None)
def test_a_corrupted_zip_is_unpacked_or_refused_with_a_reason(changes: list[tuple[float, int]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = packed(folder, twice("a/one.txt", "a/two.txt"))
        content = bytearray(file.read_bytes())
        for place, value in changes:
            content[int(place * len(content))] = value
        file.write_bytes(content)
        (folder / "target").mkdir()

        reason = "unpacked"
        try:
            unpack(file, folder / "target", LIMITS)
        except PluginInvalid as refusal:
            reason = str(refusal)

        assert reason
        assert {path.name for path in folder.iterdir()} == {file.name, "target"}


def directory_of(count: int, long: bool, claimed: int) -> bytes:
    """Makes a zip directory with this number of empty files."""
    head = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0)
    listed = b"".join(head + b"%07d" % number for number in range(count))
    if not long:
        return listed + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, claimed, claimed, len(listed), 0, 0)
    end = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, claimed, claimed, len(listed), 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(listed), 1)
    return (
        listed + end + locator + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0)
    )


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("claimed", [1, 20_000])
def test_a_zip_with_too_many_entries_is_refused_before_they_are_loaded(
    tmp_path: Path, target: Path, long: bool, claimed: int
) -> None:
    file = tmp_path / "plugin.zip"
    file.write_bytes(directory_of(20_000, long, claimed))
    tracemalloc.start()
    try:
        with pytest.raises(PluginInvalid, match="more than 50 files and folders"):
            unpack(file, target, LIMITS)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 1024 * 1024


def test_a_zip_directory_that_is_too_long_is_refused(tmp_path: Path, target: Path) -> None:
    def pack(opened: zipfile.ZipFile) -> None:
        for number in range(10):
            remarked = entry(f"{number}.txt")
            remarked.comment = b"x" * 60_000
            opened.writestr(remarked, "x")

    with pytest.raises(PluginInvalid, match="its list of files has"):
        unpack(packed(tmp_path, pack), target, LIMITS)


@pytest.mark.parametrize("comment", [b"", b"a remark"])
def test_the_entries_of_a_zip_are_counted_from_its_directory(tmp_path: Path, comment: bytes) -> None:
    def pack(opened: zipfile.ZipFile) -> None:
        many(opened)
        opened.comment = comment

    file = packed(tmp_path, pack)

    assert zip_directory.measure(file, 1000)[0] == LIMITS.files + 1
    assert zip_directory.measure(file, 10)[0] == 11


def test_a_good_zip_is_unpacked_with_its_folders_and_its_programs(tmp_path: Path, target: Path) -> None:
    def pack(opened: zipfile.ZipFile) -> None:
        opened.writestr(entry("empty/", stat.S_IFDIR | 0o755), "")
        opened.writestr(entry("a/b/one.txt", stat.S_IFREG | 0o644), "one")
        opened.writestr(entry("run.sh", stat.S_IFREG | 0o755), "two")
        opened.writestr(entry("ünï.txt"), "three")

    unpack(packed(tmp_path, pack), target, LIMITS)

    files = {str(path.relative_to(target)): path.read_text() for path in target.rglob("*") if path.is_file()}
    assert files == {"a/b/one.txt": "one", "run.sh": "two", "ünï.txt": "three"}
    assert (target / "empty").is_dir()
    assert (target / "run.sh").stat().st_mode & 0o111
    assert not (target / "a/b/one.txt").stat().st_mode & 0o111


def test_a_small_zip_may_have_any_compression_ratio(tmp_path: Path, target: Path) -> None:
    unpack(packed(tmp_path, one("zeros", "\0" * 1024 * 1024)), target, LIMITS)

    assert (target / "zeros").stat().st_size == 1024 * 1024
