"""Tests what a Host does with bases over starts, crashes and losses, and that a Host without a base loads nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.integration.conftest import MakeHost
from tests.support.commands import parlour_here
from tests.support.harness import Host, eventually

from .test_bases import HANDBOOK, finished, new_base, search, upload

LOADED = """
import asyncio, sys
from pathlib import Path
from parlour.app.bootstrap import open_host
from parlour.app.host import HostExtensions
from parlour.app.log_setup import build_redactor
from parlour.app.settings import HostSettings

async def main():
    settings = HostSettings(data=Path(sys.argv[1]))
    async with open_host(settings, HostExtensions(), build_redactor(settings)) as host:
        assert host.knowledge.resources() == ()
        await host.knowledge.recover()
    names = ("numpy", "tokenizers", "parlour.core.knowledge", "parlour.providers.knowledge")
    print([name for name in sys.modules if name in names], sorted(each.name for each in Path(sys.argv[1]).iterdir()))

asyncio.run(main())
"""


def test_a_host_without_a_base_loads_and_stores_nothing_of_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOADED, str(tmp_path)]
    finished_process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert finished_process.returncode == 0, finished_process.stderr
    assert finished_process.stdout.startswith("[]")
    assert "'knowledge'" not in finished_process.stdout


def test_lost_vectors_are_made_anew_and_words_are_searched_meanwhile(make_host: MakeHost) -> None:
    host = make_host().start()
    kb_id = new_base(host)
    finished(host, kb_id, upload(host, kb_id, "handbook.md", HANDBOOK.encode())["file_id"])
    host.stop()
    shutil.rmtree(host.data / "knowledge")
    host.start()
    assert "twenty-six" in search(host, kb_id, "days of annual leave")[0]["text"]
    eventually(
        lambda: host.http().get(f"/knowledge-bases/{kb_id}").json()["status"] == "ready", "the vectors are complete"
    )
    assert search(host, kb_id, "annual leave", mode="vector")


def test_a_restored_base_has_its_files_and_makes_its_vectors_anew(make_host: MakeHost, tmp_path: Path) -> None:
    host = make_host().start()
    kb_id = new_base(host)
    file = finished(host, kb_id, upload(host, kb_id, "handbook.md", HANDBOOK.encode())["file_id"])
    backup, restored = tmp_path / "backup.tar.gz", tmp_path / "restored"
    assert parlour_here("backup", backup, "--data", host.data).returncode == 0
    host.stop()
    restored.mkdir()
    finished_process = parlour_here("restore", backup, "--data", restored / "data")
    assert finished_process.returncode == 0, finished_process.stderr
    assert not list((restored / "data").glob("knowledge/*.vec*")), "vectors are not in a backup"
    other = Host(restored)
    other.start()
    try:
        assert other.http().get(f"/knowledge-bases/{kb_id}").json()["status"] in ("rebuilding", "ready")
        assert "twenty-six" in search(other, kb_id, "days of annual leave")[0]["text"]
        base = eventually(
            lambda: (
                (found := other.http().get(f"/knowledge-bases/{kb_id}").json()) and found["status"] == "ready" and found
            ),
            "the vectors are complete",
        )
        assert (base["files"], base["chunks"]) == (1, file["chunks"])
        assert search(other, kb_id, "annual leave", mode="vector")
        content = other.http().get(f"/knowledge-bases/{kb_id}/files/{file['file_id']}/content")
        assert content.content == HANDBOOK.encode()
    finally:
        other.close()


def test_a_killed_host_continues_and_leaves_no_half_file(make_host: MakeHost) -> None:
    host = make_host().start()
    kb_id = new_base(host)
    text = "\n\n".join(f"Paragraph {number} about the tide at pier {number}." * 40 for number in range(400))
    file_ids = [upload(host, kb_id, f"tides-{number}.txt", text.encode())["file_id"] for number in range(3)]

    def is_embedding() -> bool:
        files = host.items(f"/knowledge-bases/{kb_id}/files")
        return any(file["stage"] == "embed" for file in files)

    eventually(is_embedding, "a file is embedded")
    host.kill()
    host.start()
    files = [finished(host, kb_id, file_id) for file_id in file_ids]
    assert {file["status"] for file in files} == {"completed"}
    assert len({file["chunks"] for file in files}) == 1
    base = host.http().get(f"/knowledge-bases/{kb_id}").json()
    assert (base["files"], base["chunks"]) == (3, sum(file["chunks"] for file in files))
    for file in files:
        chunks = host.items(f"/knowledge-bases/{kb_id}/files/{file['file_id']}/chunks")
        assert [chunk["position"] for chunk in chunks] == list(range(file["chunks"]))
