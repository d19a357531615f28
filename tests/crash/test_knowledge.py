"""Tests a real kill -9 at each step of taking up, replacing, deleting and embedding files of a knowledge base.

After the next start every file is whole, and nothing is left of what was begun: no passage, no vector, no content.
"""

import asyncio
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import httpx
import psutil
import pytest

from parlour.core.model.ids import KnowledgeBaseId
from parlour.core.model.knowledge import collection_name
from parlour.providers.knowledge.vector_files import VectorFiles
from tests.support.harness import Host, Json, eventually

FIRST = "\n\n".join(f"Paragraph {number} about the tide at pier {number}. " * 30 for number in range(150))
SECOND = "\n\n".join(f"Paragraph {number} about the wind at pier {number}. " * 30 for number in range(150))
NAME = "piers.txt"


class MortalHost(Host):
    """A Host that dies at a point until the point is cleared."""

    point = ""

    def _command(self) -> list[str]:
        if not self.point:
            return super()._command()
        return [sys.executable, "-m", "parlour.testing.killed_host", str(self.data), self.point]


def rare(point: str) -> object:
    """Returns a point that `make test` leaves out."""
    return pytest.param(point, marks=pytest.mark.long)


@pytest.fixture
def host(tmp_path: Path) -> MortalHost:
    return MortalHost(tmp_path)


def kill_during(host: MortalHost, point: str, act: Callable[[], object]) -> None:
    """Restarts a Host so that it dies at a point, acts, and starts it again when it has died."""
    if host.is_ready():
        host.stop()
    host.point = point
    host.start()
    process = host.process
    with suppress(httpx.TransportError):  # it died before it answered
        act()
    psutil.wait_procs([process], timeout=60)
    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE, f"{point} was not reached"
    host.kill()
    host.point = ""
    host.start()


def put(host: Host, kb_id: str, text: str) -> None:
    made = host.http().post(
        f"/knowledge-bases/{kb_id}/files", files={"file": (NAME, text.encode())}, params={"replace": True}
    )
    assert made.status_code in (201, 409), made.text


def settled(host: Host, kb_id: str) -> list[Json]:
    """Returns the files of a base when no job is left."""

    def look() -> bool:
        with closing(sqlite3.connect(host.data / "parlour.db", timeout=30)) as database:
            query = (
                "SELECT count(*) FROM jobs WHERE kind = 'knowledge' AND state NOT IN ('done', 'failed', 'cancelled')"
            )
            [[waiting]] = database.execute(query)
        return not waiting

    eventually(look, "all jobs are done", 60)
    return host.items(f"/knowledge-bases/{kb_id}/files")


def check_whole(host: MortalHost, kb_id: str, text: str | None) -> None:
    """Checks that a base has one whole file of this text, or none, and nothing else."""
    files = settled(host, kb_id)
    base = host.http().get(f"/knowledge-bases/{kb_id}").json()
    assert [(file["name"], file["status"]) for file in files] == ([(NAME, "completed")] if text else [])
    count = sum(file["chunks"] for file in files)
    assert (base["files"], base["chunks"], base["status"]) == (len(files), count, "ready")
    host.stop()
    with closing(sqlite3.connect(host.data / "parlour.db")) as database:
        rows = list(database.execute("SELECT file_id, position, text FROM knowledge_chunks ORDER BY position"))
        contents = list(
            database.execute("SELECT artifact_id FROM artifacts WHERE source = 'knowledge' AND NOT expires_at")
        )
        [[generation]] = database.execute("SELECT generation FROM knowledge_bases")
    assert [position for _, position, _ in rows] == list(range(count))
    assert {file_id for file_id, _, _ in rows} == {file["file_id"] for file in files}
    assert {artifact for (artifact,) in contents} == {file["artifact_id"] for file in files}
    if text:
        assert text[:40] in rows[0][2]
    assert asyncio.run(vectors(host.data, kb_id, generation)) == (count if text else 0)
    collections = {each.name for each in (host.data / "knowledge").iterdir()} - {".work"}
    assert collections <= {collection_name(KnowledgeBaseId(kb_id), generation)}
    assert list((host.data / "knowledge" / ".work").iterdir()) == []


async def vectors(data: Path, kb_id: str, generation: int) -> int:
    store = VectorFiles(data / "knowledge")
    try:
        return await store.count(collection_name(KnowledgeBaseId(kb_id), generation)) or 0
    finally:
        await store.close()


def new_base(host: MortalHost) -> str:
    host.start()
    return str(host.http().post("/knowledge-bases", json={"name": "Piers"}).json()["kb_id"])


@pytest.mark.parametrize(
    "point",
    [
        rare("knowledge_file.add:before"),
        rare("knowledge_file.add:after"),
        rare("knowledge.begin:before"),
        rare("knowledge.begin:after"),
        rare("knowledge.chunks:before"),
        "knowledge.chunks:after#2",
        rare("knowledge.chunks:before#3"),
        rare("job.end:before"),
        rare("job.end:after"),
    ],
)
def test_a_new_file_is_taken_up_once_and_whole(host: MortalHost, point: str) -> None:
    kb_id = new_base(host)
    kill_during(host, point, lambda: put(host, kb_id, FIRST))
    if not settled(host, kb_id):
        put(host, kb_id, FIRST)
    check_whole(host, kb_id, FIRST)


@pytest.mark.parametrize(
    "point",
    [
        rare("knowledge_file.add:after"),
        rare("knowledge.begin:after"),
        rare("knowledge.chunks:after#2"),
        rare("job.end:before"),
        rare("job.end:after"),
        rare("knowledge.clean:before"),
        rare("knowledge.clean:after"),
    ],
)
def test_a_replaced_file_is_the_new_one_and_the_old_one_is_gone(host: MortalHost, point: str) -> None:
    kb_id = new_base(host)
    put(host, kb_id, FIRST)
    settled(host, kb_id)
    kill_during(host, point, lambda: put(host, kb_id, SECOND))
    check_whole(host, kb_id, SECOND)


@pytest.mark.parametrize(
    "point",
    [
        rare("knowledge_file.remove:before"),
        rare("knowledge_file.remove:after"),
        rare("knowledge.clean:before"),
        rare("knowledge.clean:after"),
        rare("job.end:before"),
    ],
)
def test_a_deleted_file_leaves_nothing(host: MortalHost, point: str) -> None:
    kb_id = new_base(host)
    put(host, kb_id, FIRST)
    [file] = settled(host, kb_id)
    address = f"/knowledge-bases/{kb_id}/files/{file['file_id']}"
    kill_during(host, point, lambda: host.http().delete(address))
    if settled(host, kb_id):
        host.http().delete(address)
    check_whole(host, kb_id, None)


@pytest.mark.parametrize("point", [rare("knowledge_base.reembed:after"), rare("job.end:before"), rare("job.end:after")])
def test_vectors_that_are_made_again_replace_the_old_ones(host: MortalHost, point: str) -> None:
    kb_id = new_base(host)
    put(host, kb_id, FIRST)
    settled(host, kb_id)
    kill_during(host, point, lambda: host.http().post(f"/knowledge-bases/{kb_id}/reembed"))
    check_whole(host, kb_id, FIRST)
