"""Tests a real kill -9 around the row of a file: the file exists completely or not at all, and
orphans are collected.
"""

import base64
import contextlib
import hashlib
from pathlib import Path

import httpx
import pytest

from parlour.core.journal import Select
from parlour.core.store.artifact_service import ArtifactLimits, ArtifactService, NullLinkFetcher
from parlour.core.store.tables import ARTIFACTS, EVENTS
from parlour.core.system import SystemClock, SystemIds
from parlour.stores.objects.folder import FolderObjects
from parlour.stores.sqlite import SqliteJournal
from tests.crash.conftest import Prepared, RestartableHost
from tests.support.harness import NO_TLS

CONTENT = b"\x89PNG\r\n\x1a\n the only copy"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def send(restartable_host: RestartableHost, key: str, how: str) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=f"{restartable_host.url}/api/v1", headers=headers, verify=NO_TLS) as client:
        if how == "upload":
            client.post("/files", files={"file": ("cat.png", CONTENT)})
        else:
            picture = {"type": "image", "content_base64": base64.b64encode(CONTENT).decode()}
            client.post(
                "/events",
                json={"agent_id": restartable_host.agent_id, "input": {"text": "look", "contents": [picture]}},
            )


async def stored_files(data: Path) -> tuple[int, int, list[str], list[str]]:
    """Returns the number of file rows, the number of events with a file, the readable files, and
    the collected orphans.
    """
    objects = FolderObjects(data / "artifacts")
    async with SqliteJournal(data / "parlour.db") as journal:
        files = ArtifactService(journal, objects, NullLinkFetcher(), SystemIds(), SystemClock(), ArtifactLimits())
        rows = await journal.read(Select(ARTIFACTS))
        events = [row for row in await journal.read(Select(EVENTS)) if "artifact_id" in row["body"]]
        found = [await files.get(row["artifact_id"]) for row in rows]
        contents = [await files.read(await files.ensure_local(each), 0, 1000) for each in found if each]
        collected = await files.collect_orphans(grace=-1000)
    objects.close()
    digests = [hashlib.sha256(content).hexdigest() for content in contents]
    return len(rows), len(events), digests, [each.sha256 for each in collected]


@pytest.mark.parametrize("how", ["upload", "event"])
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_host_killed_between_a_files_content_and_its_row_keeps_the_file_completely_or_not_at_all(
    restartable_host: RestartableHost, prepared: Prepared, how: str, moment: str
) -> None:
    unit = "file.create" if how == "upload" else "event.begin"
    process = restartable_host.start(f"{unit}:{moment}")
    await restartable_host.ready()
    with contextlib.suppress(httpx.TransportError):
        send(restartable_host, prepared.key, how)
    assert await restartable_host.died(process, 30)
    assert (restartable_host.data / "artifacts" / DIGEST[:2] / DIGEST[2:4] / DIGEST).read_bytes() == CONTENT

    rows, events, readable, collected = await stored_files(restartable_host.data)

    if moment == "before":
        assert (rows, events, readable, collected) == (0, 0, [], [DIGEST])
    else:
        assert (rows, events, readable, collected) == (1, int(how == "event"), [DIGEST], [])
