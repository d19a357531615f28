"""Measures lists of a base with 10,000 files, as the page reads them from a Host over HTTP."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.host import Host, install, running
from parlour.core.journal import Unit
from parlour.core.knowledge import records
from parlour.core.model.ids import ArtifactId, JobId, KnowledgeFileId
from parlour.core.model.knowledge import BaseFile

from .bench_base import NOW, BenchBase, open_bench

pytestmark = [pytest.mark.long, pytest.mark.quiet, pytest.mark.timeout(600)]
FILES, WAITING, PAGE = 10_000, 1_000, 100
MILLISECONDS = 50
LOOKS = 20


async def fill(bench: BenchBase) -> None:
    """Adds completed files, and newer ones that wait for their jobs."""
    await bench.journal.commit(Unit("fill", (records.insert_base(bench.base, NOW),)))
    for start in range(0, FILES, PAGE):
        rows = [records.insert_file(file_of(bench, number), NOW) for number in range(start, start + PAGE)]
        await bench.journal.commit(Unit("fill", (*rows, records.count_change(bench.base.kb_id, files=PAGE))))


def file_of(bench: BenchBase, number: int) -> BaseFile:
    is_waiting = number >= FILES - WAITING
    return BaseFile(
        KnowledgeFileId(f"file{number:05}"),
        bench.base.kb_id,
        f"file {number}.md",
        "text/markdown",
        f"{number:064x}",
        ArtifactId(f"artifact{number}"),
        "upload",
        10_000,
        NOW + number,
        state="pending" if is_waiting else "completed",
        job_id=JobId(f"job{number}") if is_waiting else JobId(""),
        generation=1,
        chunks=20,
    )


@pytest.fixture
async def data(tmp_path: Path) -> tuple[Path, str]:
    folder = tmp_path / "data"
    key = install(folder)
    async with open_bench(folder) as bench:
        await fill(bench)
    return folder, key


@pytest.fixture
def host(data: tuple[Path, str]) -> Iterator[Host]:
    with running(*data) as host:
        yield host


def test_each_page_of_10_000_files_needs_less_than_50_ms(host: Host) -> None:
    base = f"http://127.0.0.1:{host.port}/api/v1/knowledge-bases"
    with httpx.Client(headers={"Authorization": f"Bearer {host.key}"}, timeout=60) as client:

        def page(cursor: str | None) -> dict[str, Any]:
            parameters = {"limit": PAGE, **({"cursor": cursor} if cursor else {})}
            answer = client.get(f"{base}/kb/files", params=parameters)
            assert answer.status_code == 200, answer.text
            return dict(answer.json())

        cursors: list[str | None] = [None]
        seen = []
        while True:
            found = page(cursors[-1])
            seen += [file["file_id"] for file in found["items"]]
            if not found["next_cursor"]:
                break
            cursors.append(found["next_cursor"])
        assert seen == [f"file{number:05}" for number in reversed(range(FILES))]
        [listed] = client.get(base).json()["items"]
        assert listed["files"] == FILES
        looks = {
            "waiting": lambda: page(None),
            "middle": lambda: page(cursors[len(cursors) // 2]),
            "last": lambda: page(cursors[-1]),
            "bases": lambda: client.get(base),
        }
        took = {}
        for name, look in looks.items():
            seconds = []
            for _ in range(LOOKS):
                started = time.perf_counter()
                look()
                seconds.append(time.perf_counter() - started)
            took[name] = 1000 * statistics.median(seconds)
    print(f"\n{FILES} files: " + ", ".join(f"{name} {each:.1f} ms" for name, each in took.items()))  # noqa: T201
    assert max(took.values()) < MILLISECONDS
