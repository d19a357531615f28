"""Tests that many files are taken up with flat memory, and that their progress can be believed."""

import pytest

from tests.integration.conftest import MakeHost
from tests.support.harness import eventually

from .test_bases import new_base, search, upload

PAGES = 10
GROWTH_BYTES = 60 * 1024 * 1024
"""How much the Host may grow between the first tenth of the files and the last."""


def content(number: int) -> bytes:
    """Returns a file of about ten pages."""
    pages = (
        f"## Page {page}\n\n" + f"File {number} says on page {page} that the tide at pier {number} is high. " * 35
        for page in range(PAGES)
    )
    text = "\n\n".join(pages)
    return f"# File {number}\n\n{text}".encode()


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.long)])
def test_many_files_are_taken_up_with_flat_memory(make_host: MakeHost, count: int) -> None:
    host = make_host().start()
    kb_id = new_base(host)
    for number in range(count):
        upload(host, kb_id, f"file-{number}.md", content(number))

    def completed(wanted: int) -> bool:
        return bool(host.http().get(f"/knowledge-bases/{kb_id}").json()["files"] >= wanted)

    eventually(lambda: completed(count // 10), "a tenth of the files is done", 300)
    early = host.process.memory_info().rss
    seen = [host.http().get(f"/knowledge-bases/{kb_id}").json()]

    def all_done() -> bool:
        seen.append(host.http().get(f"/knowledge-bases/{kb_id}").json())
        return bool(seen[-1]["files"] == count)

    eventually(all_done, "all files are done", 1500)
    assert host.process.memory_info().rss - early < GROWTH_BYTES
    counts = [(base["files"], base["chunks"]) for base in seen]
    assert counts == sorted(counts), "progress never goes back"
    assert len(set(counts)) > 3, "progress is seen on the way"
    files = host.items(f"/knowledge-bases/{kb_id}/files")
    assert {(file["status"], file["progress"]) for file in files} == {("completed", 100)}
    assert seen[-1]["chunks"] == sum(file["chunks"] for file in files)
    assert search(host, kb_id, f"pier {count - 1}", filters={"name": f"file-{count - 1}.md"})
