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


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.long)])
def test_many_files_are_taken_up_with_flat_memory(make_host: MakeHost, count: int) -> None:
    """Two bases have half of the files each: files of one base are taken up one after the other."""
    host = make_host().start()
    bases = [new_base(host, name=f"Half {number}") for number in (1, 2)]
    for number in range(count):
        upload(host, bases[number % 2], f"file-{number}.md", content(number))

    def counts() -> list[tuple[int, int]]:
        answers = [host.http().get(f"/knowledge-bases/{kb_id}").json() for kb_id in bases]
        return [(base["files"], base["chunks"]) for base in answers]

    def completed() -> int:
        return sum(files for files, _ in counts())

    eventually(lambda: completed() >= count // 10, "a tenth of the files is done", 600)
    early = host.process.memory_info().rss
    seen = [counts()]

    def all_done() -> bool:
        seen.append(counts())
        return sum(files for files, _ in seen[-1]) == count

    eventually(all_done, "all files are done", 2700)
    assert host.process.memory_info().rss - early < GROWTH_BYTES
    for place, kb_id in enumerate(bases):
        steps = [each[place] for each in seen]
        assert steps == sorted(steps), "progress never goes back"
        assert len(set(steps)) > 3, "progress is seen on the way"
        files = host.items(f"/knowledge-bases/{kb_id}/files")
        assert {(file["status"], file["progress"]) for file in files} == {("completed", 100)}
        assert steps[-1] == (count // 2, sum(file["chunks"] for file in files))
    assert search(host, bases[1], f"pier {count - 1}", filters={"name": f"file-{count - 1}.md"})
