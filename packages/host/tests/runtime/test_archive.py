"""Zips that nobody vouches for: the good ones are unpacked, of the bad ones not a byte is written anywhere."""

import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from parlour.runtime.packages.archive import SizeLimits, unpack
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
    """Neither the target nor anything around it has a new file."""
    above = target.parent.parent
    return {path for path in above.rglob("*") if path.is_file() or path.is_symlink()} == set(but)


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_zip_is_refused_and_nothing_of_it_is_written(tmp_path: Path, target: Path, fault: str) -> None:
    pack, reason = BAD[fault]
    file = packed(tmp_path, pack)

    with pytest.raises(PluginInvalid, match=reason):
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
def test_what_is_no_zip_is_refused(tmp_path: Path, target: Path, content: bytes) -> None:
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


def test_a_small_zip_may_shrink_as_far_as_it_likes(tmp_path: Path, target: Path) -> None:
    unpack(packed(tmp_path, one("zeros", "\0" * 1024 * 1024)), target, LIMITS)

    assert (target / "zeros").stat().st_size == 1024 * 1024
