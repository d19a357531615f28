"""Packages of skills: what is accepted, what is refused, and that packing and reading are inverse."""

import io
import os
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parlour.core.skills.archive import read_archive
from parlour.core.skills.candidates import find_candidates
from parlour.core.skills.document import SkillDocument, read_document, write_document
from parlour.core.skills.folder import read_folder
from parlour.core.skills.limits import MAX_FILES, SkillInvalid
from parlour.core.skills.package import PackageFile, build_package, check_path

DOCUMENT = b"---\nname: report\ndescription: Writes reports.\nmetadata: {version: '2'}\n---\n\nWrite it.\n"


def make_zip(entries: dict[str, bytes], modes: dict[str, int] | None = None) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (modes or {}).get(name, 0o100644) << 16
            archive.writestr(entry, content)
    return target.getvalue()


def test_document_is_read_and_written_without_loss() -> None:
    document = read_document(DOCUMENT)
    assert (document.name, document.description, document.instructions) == ("report", "Writes reports.", "Write it.")
    assert document.metadata == {"metadata": {"version": "2"}}
    assert read_document(write_document(document)) == document


@example("one\x85two \u2028 three", "")
@given(st.text(min_size=1, max_size=200).map(str.strip).filter(bool), st.text(max_size=500))
def test_any_description_and_instructions_survive(description: str, instructions: str) -> None:
    document = SkillDocument(check(), description, instructions.replace("\r", "").strip("\n"), {})  # type: ignore[arg-type]
    try:
        written = write_document(document)
    except UnicodeEncodeError:
        return  # half of a surrogate pair is no text
    assert read_document(written) == document


def check() -> str:
    return "report"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no front matter", "front matter"),
        (b"---\nname: report\n---\n", "no description"),
        (b"---\nname: Report\ndescription: x\n---\n", "is no name"),
        (b"---\nname: a--b\ndescription: x\n---\n", "is no name"),
        (b"---\nname: ../x\ndescription: x\n---\n", "is no name"),
        (b"---\nname: report\ndescription: " + b"x" * 1025 + b"\n---\n", "at most 1024"),
        (b"---\nname: [\ndescription: x\n---\n", "no YAML"),
        (b"---\n- a\n---\n", "must be fields"),
        (b"\xff\xfe", "UTF-8"),
    ],
)
def test_documents_that_can_not_be_used_are_refused_with_the_reason(content: bytes, reason: str) -> None:
    with pytest.raises(SkillInvalid, match=reason):
        read_document(content)


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../b", "a//b", "", "a\\b", "C:/x", "a/\0b", "a\nb", "./a"])
def test_paths_that_leave_the_package_are_refused(path: str) -> None:
    with pytest.raises(SkillInvalid):
        check_path(path)


@pytest.mark.parametrize(
    ("entries", "modes", "reason"),
    [
        ({"SKILL.md": DOCUMENT, "../x": b"x"}, {}, "no path"),
        ({"SKILL.md": DOCUMENT, "/x": b"x"}, {}, "no path"),
        ({"SKILL.md": DOCUMENT, "link": b"/etc/passwd"}, {"link": stat.S_IFLNK | 0o777}, "link or a device"),
        ({"SKILL.md": DOCUMENT, "device": b""}, {"device": stat.S_IFCHR | 0o600}, "link or a device"),
        ({"SKILL.md": DOCUMENT, "a.txt": b"1", "A.txt": b"2"}, {}, "twice"),
        ({"SKILL.md": DOCUMENT, "bomb": bytes(40 * 1024 * 1024)}, {}, "too large"),
        ({f"{number}.txt": b"x" for number in range(4 * MAX_FILES + 1)}, {}, "entries"),
    ],
)
def test_hostile_archives_are_refused(entries: dict[str, bytes], modes: dict[str, int], reason: str) -> None:
    with pytest.raises(SkillInvalid, match=reason):
        read_archive(make_zip(entries, modes))


def test_broken_and_encrypted_archives_are_refused() -> None:
    whole = make_zip({"SKILL.md": DOCUMENT})
    for broken in (b"", b"PK", whole[:-10], whole[:40] + b"\0" * 40 + whole[80:]):
        with pytest.raises(SkillInvalid):
            read_archive(broken)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}){0,3}\.txt", fullmatch=True), st.binary(max_size=200), max_size=12
    )
)
def test_packing_is_deterministic_and_reads_back(files: dict[str, bytes]) -> None:
    package = build_package({path: PackageFile(content) for path, content in {**files, "SKILL.md": DOCUMENT}.items()})
    packed = package.pack()
    again = build_package(dict(reversed(read_archive(packed, 10**8).items())))
    assert (again.sha256, again.pack()) == (package.sha256, packed)


@pytest.mark.parametrize("data", [b"\0", os.urandom(400)])
@given(st.data())
def test_no_bytes_break_the_reader(data: bytes, drawn: st.DataObject) -> None:
    whole = bytearray(make_zip({"SKILL.md": DOCUMENT, "a/b": data}))
    for _ in range(drawn.draw(st.integers(1, 6))):
        whole[drawn.draw(st.integers(0, len(whole) - 1))] = drawn.draw(st.integers(0, 255))
    try:
        build_package(read_archive(bytes(whole)))
    except SkillInvalid:
        return


def test_folder_with_a_link_or_a_pipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_bytes(DOCUMENT)
    assert set(read_folder(tmp_path)) == {"SKILL.md"}
    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(SkillInvalid, match="is a link"):
        read_folder(tmp_path)
    (tmp_path / "link").unlink()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SkillInvalid, match="neither a file nor a folder"):
        read_folder(tmp_path)


def test_candidates_of_a_source_name_conflicts_and_problems() -> None:
    other = DOCUMENT.replace(b"report", b"other")
    files = {
        "skills/report/SKILL.md": PackageFile(DOCUMENT),
        "skills/report/scripts/run.py": PackageFile(b"print()"),
        "skills/wrong/SKILL.md": PackageFile(other),
        "elsewhere/other/SKILL.md": PackageFile(other),
    }
    found = {each.source_path: each for each in find_candidates(files, {"report"})}
    assert found["skills/report"].conflicts
    assert "both must agree" in found["skills/wrong"].problem
    assert not found["elsewhere/other"].conflicts
    [below] = find_candidates(files, (), "elsewhere")
    assert below.source_path == "elsewhere/other"
    suffixed = {each.source_path: each for each in find_candidates(files, {"report"}, "skills", "b")}["skills/report"]
    assert suffixed.package is not None
    assert (suffixed.target, suffixed.package.document.name, suffixed.conflicts) == ("report-b", "report-b", False)
    assert read_document(suffixed.package.files["SKILL.md"].content).name == "report-b"
    with pytest.raises(SkillInvalid, match=r"no SKILL\.md"):
        find_candidates(files, (), "nothing")
