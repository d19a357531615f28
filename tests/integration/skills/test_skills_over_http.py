"""Tests skills over HTTP on a real Host: install from zip, folder and git, files, conflicts, audit and backup."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.harness import Host, error_code, parlour_here
from tests.support.skills import adder, document, zipped


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("skills"))
    host.start()
    yield host
    host.close()


def upload(host: Host, action: str, content: bytes, **fields: str) -> httpx.Response:
    return host.http().post(f"/skills/{action}", files={"file": ("pack.zip", content)}, data=fields)


def test_zip_is_previewed_and_installed(host: Host) -> None:
    pack = zipped({**adder(), "broken/SKILL.md": b"no front matter"})
    preview = upload(host, "preview", pack).json()
    found = {each["source_path"]: each for each in preview["candidates"]}
    assert preview["source"]["kind"] == "zip"
    assert (found["adder"]["name"], found["adder"]["files"], found["adder"]["conflicts"]) == ("adder", 2, False)
    assert "front matter" in found["broken"]["problem"]
    assert error_code(upload(host, "install", pack)) == "skill_invalid"
    assert host.items("/skills") == []

    [skill] = upload(host, "install", pack, source_paths='["adder"]').json()["items"]
    assert (skill["name"], skill["files"], skill["source"]) == (
        "adder",
        2,
        {"kind": "zip", "address": "pack.zip", "subfolder": "adder"},
    )
    assert error_code(upload(host, "install", pack, source_paths='["adder"]')) == "exists"
    [other] = upload(host, "install", pack, source_paths='["adder"]', target_suffix="two").json()["items"]
    assert other["name"] == "adder-two"
    [same] = upload(host, "install", pack, source_paths='["adder"]', replace="true").json()["items"]
    assert same["sha256"] == skill["sha256"]
    actions = [each["action"] for each in host.items("/audit", action="skill.create")]
    assert len(actions) == 2
    assert host.http().delete("/skills/adder-two").status_code == 204
    assert host.http().get("/skills/adder-two").status_code == 404


def test_folder_and_git_are_sources(host: Host, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    for path, content in adder("from-git").items():
        target = repository / "skills" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    git = ("git", "-C", str(repository), "-c", "user.name=t", "-c", "user.email=t@example.org")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "add")):
        subprocess.run([*git, *arguments], check=True, capture_output=True)
    source = {"source": f"git+file://{repository}#subdirectory=skills"}
    [skill] = host.http().post("/skills/install", json=source).json()["items"]
    assert (skill["name"], skill["source"]["kind"]) == ("from-git", "git")
    folder = {"source": str(repository), "source_subdir": "skills/from-git"}
    [candidate] = host.http().post("/skills/preview", json=folder).json()["candidates"]
    assert candidate["conflicts"]
    [again] = host.http().post("/skills/install", json={**folder, "target_suffix": "b"}).json()["items"]
    assert (again["name"], again["source"]["kind"]) == ("from-git-b", "folder")
    for absent in ("/nowhere", "relative", str(repository / ".git"), "git+file:///nowhere"):
        assert error_code(host.http().post("/skills/preview", json={"source": absent})) == "skill_invalid"


def test_files_are_read_written_and_deleted(host: Host) -> None:
    http = host.http()
    new = {"name": "notes", "description": "Takes notes.", "instructions": "Write them down."}
    made = http.post("/skills", json=new)
    etag = made.headers["etag"]
    assert made.status_code == 201
    changed = http.put("/skills/notes/files/references/a.md", json={"text": "# A\n"}, headers={"If-Match": etag})
    assert [each["path"] for each in changed.json()["entries"]] == ["SKILL.md", "references/a.md"]
    assert http.put("/skills/notes/files/b.md", json={"text": "b"}, headers={"If-Match": etag}).status_code == 412
    assert http.get("/skills/notes/files/references/a.md").json()["text"] == "# A\n"
    for path, code in (("../x", "not_found"), ("a\\b", "skill_invalid"), ("references", "skill_invalid")):
        answer = http.put(f"/skills/notes/files/{path.replace('..', '%2E%2E')}", json={"text": "x"})
        assert error_code(answer) in (code, "skill_invalid"), path
    renamed = document("other").decode()
    assert error_code(http.put("/skills/notes/files/SKILL.md", json={"text": renamed})) == "skill_invalid"
    body = {"description": "Takes better notes.", "instructions": "Think first.", "enabled": False}
    replaced = http.put("/skills/notes", json=body).json()
    assert (replaced["description"], replaced["instructions"], replaced["enabled"]) == (
        "Takes better notes.",
        "Think first.",
        False,
    )
    assert "Think first." in http.get("/skills/notes/files/SKILL.md").json()["text"]
    assert len(http.delete("/skills/notes/files/references/a.md").json()["entries"]) == 1
    assert error_code(http.delete("/skills/notes/files/SKILL.md")) == "skill_invalid"
    assert error_code(http.delete("/skills/notes/files/absent")) == "not_found"


def test_skills_are_in_backups(host: Host, tmp_path: Path) -> None:
    upload(host, "install", zipped(adder("kept")))
    backup, restored = tmp_path / "backup.tar.gz", tmp_path / "restored"
    assert parlour_here("backup", backup, "--data", host.data).returncode == 0
    (restored / "data").parent.mkdir()
    finished = parlour_here("restore", backup, "--data", restored / "data")
    assert finished.returncode == 0, finished.stderr
    other = Host(restored)
    other.start()
    try:
        text = other.http().get("/skills/kept/files/scripts/add.py").json()["text"]
        assert text.startswith("#!/usr/bin/env python3")
    finally:
        other.close()


def test_without_the_box_skills_can_only_be_read(host: Host, tmp_path: Path) -> None:
    closed = Host(tmp_path, PARLOUR__BOX__ENABLED="false")
    closed.start()
    try:
        assert closed.items("/skills") == []
        answer = upload(closed, "install", zipped(adder()))
        assert (answer.status_code, error_code(answer)) == (409, "box_unavailable")
        assert "box.enabled" in answer.json()["error"]["message"]
        assert upload(closed, "preview", zipped(adder())).status_code == 200
    finally:
        closed.close()
