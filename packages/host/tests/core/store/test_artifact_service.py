"""Artifacts are stored within limits, visible in their scope, checked for damage, and garbage-collected."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from parlour.core.journal import Select, Unit, Update, where
from parlour.core.model.providers import ProviderFailed
from parlour.core.store import artifacts
from parlour.core.store.artifact_service import (
    GRACE_MILLISECONDS,
    MAX_READ_BYTES,
    ArtifactLimits,
    ArtifactService,
    NullLinkFetcher,
)
from parlour.core.store.artifacts import Artifact, ArtifactInfo, ArtifactScope
from parlour.core.store.tables import ARTIFACTS
from parlour.testing import MemoryJournal, MemoryObjects

from ..support import CountedIds, LoopClock, until

SCOPE = ArtifactScope(conversation_id="here", run_id="run", runner_id="runner", binding_id="agent:bot")
ANOTHER_RUN = ArtifactScope(conversation_id="here", run_id="later", runner_id="runner", binding_id="agent:bot")
OTHER_CONVERSATION = ArtifactScope(
    conversation_id="elsewhere", run_id="other", runner_id="runner", binding_id="agent:bot"
)
PNG = b"\x89PNG\r\n\x1a\n rest"


class Web:
    """A fetcher that returns the same blocks for every link."""

    def __init__(self, *blocks: bytes) -> None:
        self._blocks = blocks
        self.requests: list[tuple[str, str]] = []

    async def fetch(self, location: str, reference: str) -> AsyncIterator[bytes]:
        self.requests.append((location, reference))
        for block in self._blocks:
            yield block


class ArtifactStore:
    def __init__(self, fetcher: Any = None, **sizes: int) -> None:
        self.journal = MemoryJournal()
        self.clock = LoopClock()
        self.objects = MemoryObjects(self.clock.now)
        self.service = ArtifactService(
            self.journal, self.objects, fetcher or NullLinkFetcher(), CountedIds(), self.clock, ArtifactLimits(**sizes)
        )

    async def keep(self, content: bytes = b"hello", place: ArtifactScope = SCOPE, **description: Any) -> Artifact:
        artifact = await self.service.store(content, ArtifactInfo(**description), place)
        await self.commit(artifact.insert())
        return artifact

    async def commit(self, *statements: Any) -> None:
        await self.journal.commit(Unit("test", statements))

    async def content(self, artifact: Artifact) -> bytes:
        return await self.service.read(await self.service.ensure_local(artifact), 0, MAX_READ_BYTES)


async def refusal_of(call: Any) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as refusal:
        await call
    return refusal.value


async def test_artifact_is_found_and_read_as_stored() -> None:
    store = ArtifactStore()
    made = await store.keep(b"hello", artifact_type="note", name="a.txt", metadata={"k": [1]})
    found = await store.service.get_visible(made.artifact_id, SCOPE)
    assert found == made
    assert await store.content(found) == b"hello"
    assert found.to_metadata()["mime_type"] == "text/plain"
    assert {"location", "reference"}.isdisjoint(found.to_metadata())


@pytest.mark.parametrize(
    ("owner", "viewer", "visible"),
    [
        (SCOPE, SCOPE, True),
        (SCOPE, ANOTHER_RUN, True),
        (SCOPE, OTHER_CONVERSATION, False),
        (ArtifactScope(conversation_id="here", thread_id="1"), ANOTHER_RUN, False),
        (
            ArtifactScope(conversation_id="here", thread_id="1"),
            ArtifactScope(conversation_id="here", thread_id="1"),
            True,
        ),
        (ArtifactScope(run_id="run"), SCOPE, True),
        (ArtifactScope(run_id="run"), ANOTHER_RUN, False),
        (ArtifactScope(binding_id="agent:bot"), OTHER_CONVERSATION, True),
        (ArtifactScope(binding_id="agent:bot"), ArtifactScope(binding_id="agent:other"), False),
        (ArtifactScope(), SCOPE, False),
        (ArtifactScope(), ArtifactScope(), False),
        (ArtifactScope("another", conversation_id="here"), SCOPE, False),
    ],
)
async def test_artifact_is_visible_only_in_its_scope(
    owner: ArtifactScope, viewer: ArtifactScope, visible: bool
) -> None:
    store = ArtifactStore()
    artifact = await store.keep(place=owner)
    if visible:
        assert await store.service.get_visible(artifact.artifact_id, viewer)
    else:
        foreign = await refusal_of(store.service.get_visible(artifact.artifact_id, viewer))
        absent = await refusal_of(ArtifactStore().service.get_visible(artifact.artifact_id, viewer))
        assert (foreign.code, foreign.message) == (absent.code, absent.message)
        assert foreign.code == "not_found"


async def test_expired_artifact_is_not_found() -> None:
    store = ArtifactStore()
    artifact = await store.keep(expires_at=store.clock.now() + 1000)
    assert await store.service.get(artifact.artifact_id) is not None
    await until(lambda: store.clock.now() >= artifact.info.expires_at)
    assert await store.service.get(artifact.artifact_id) is None


async def test_wrong_media_type_is_corrected_and_noted() -> None:
    store = ArtifactStore()
    mislabeled = await store.keep(b"<script>alert(1)</script>", mime_type="image/png", metadata={"k": 1})
    correct = await store.keep(PNG, mime_type="image/png")
    assert (mislabeled.info.mime_type, correct.info.mime_type) == ("text/html", "image/png")
    assert mislabeled.info.metadata == {"k": 1, "declared_mime_type": "image/png"}
    assert correct.info.metadata == {}


@pytest.mark.parametrize(
    ("name", "stored"),
    [("../../etc/passwd", "passwd"), ("C:\\a\\b.txt", "b.txt"), ("a\r\nb", "ab"), ("..", ""), ("é.txt", "é.txt")],
)
async def test_name_has_no_folders_or_control_characters(name: str, stored: str) -> None:
    assert (await ArtifactStore().keep(name=name)).info.name == stored


async def test_file_over_the_limit_is_refused() -> None:
    store = ArtifactStore(artifact_bytes=1024 * 1024)
    incoming = await store.service.start_upload()
    await incoming.write(b"x" * 1024 * 1024)
    refusal = await refusal_of(incoming.write(b"x"))
    assert (refusal.code, "1 MiB" in refusal.message) == ("payload_too_large", True)
    assert store.objects.content == {}


async def test_quota_counts_stored_artifacts_only() -> None:
    store = ArtifactStore(quota_bytes=10)
    first = await store.keep(b"12345")
    await store.keep(b"12345")
    assert (await refusal_of(store.keep(b"1"))).code == "payload_too_large"
    await store.service.remove(first)
    await store.keep(b"12345")
    assert (await refusal_of(store.keep(b"1"))).code == "payload_too_large"
    await store.commit(artifacts.remove_for_conversation("here"))
    await store.service.collect_orphans()
    artifact = await store.keep(b"1234567890")
    assert await store.content(artifact) == b"1234567890"


async def test_quota_is_known_after_a_restart() -> None:
    store = ArtifactStore(quota_bytes=10)
    await store.keep(b"1234567890")
    again = ArtifactService(
        store.journal, store.objects, NullLinkFetcher(), CountedIds(), store.clock, ArtifactLimits(quota_bytes=10)
    )
    assert (await refusal_of(again.store(b"1", ArtifactInfo(), SCOPE))).code == "payload_too_large"


async def test_aborted_upload_does_not_count_for_the_quota() -> None:
    store = ArtifactStore(quota_bytes=10)
    for _ in range(3):
        incoming = await store.service.start_upload()
        await incoming.write(b"12345678")
        incoming.abort()
        incoming.abort()
    artifact = await store.keep(b"1234567890")
    assert await store.content(artifact) == b"1234567890"


async def test_wrong_digest_is_refused() -> None:
    store = ArtifactStore(quota_bytes=5)
    for _ in range(2):
        incoming = await store.service.start_upload()
        await incoming.write(b"hello")
        refusal = await refusal_of(store.service.finish_upload(incoming, ArtifactInfo(), SCOPE, sha256="0" * 64))
        assert refusal.code == "invalid_argument"


@pytest.mark.parametrize("damage", ["missing", "damaged"])
async def test_missing_or_damaged_content_is_reported(damage: str) -> None:
    store = ArtifactStore()
    artifact = await store.keep(b"hello")
    if damage == "missing":
        del store.objects.content[artifact.sha256]
    else:
        store.objects.content[artifact.sha256] = b"hel"
    refusal = await refusal_of(store.content(artifact))
    assert (refusal.code, damage in refusal.message) == ("runtime_error", True)


async def test_read_is_limited() -> None:
    store = ArtifactStore()
    artifact = await store.keep()
    assert (await refusal_of(store.service.read(artifact, 0, MAX_READ_BYTES + 1))).code == "payload_too_large"


async def test_link_is_not_fetched_without_a_fetcher() -> None:
    store = ArtifactStore()
    link = store.service.create_link("https://example.org/a.png", ArtifactInfo("image"), SCOPE)
    refusal = await refusal_of(store.service.ensure_local(link))
    assert (refusal.code, "example.org" in refusal.message) == ("not_supported", False)
    assert "example.org" not in str(link.to_metadata())


async def test_link_is_fetched_on_the_first_read_and_stored() -> None:
    web = Web(PNG[:4], PNG[4:])
    store = ArtifactStore(web)
    link = store.service.create_link("https://example.org/a", ArtifactInfo("image", mime_type="text/html"), SCOPE)
    await store.commit(link.insert())
    for _ in range(2):
        found = await store.service.get_visible(link.artifact_id, SCOPE)
        assert await store.content(found) == PNG
    assert web.requests == [("url", "https://example.org/a")]
    assert (await store.service.get_visible(link.artifact_id, SCOPE)).info.mime_type == "image/png"


async def test_link_to_too_large_content_is_refused() -> None:
    store = ArtifactStore(Web(b"x" * 600_000, b"x" * 600_000), artifact_bytes=1024 * 1024)
    link = store.service.create_link("https://example.org/a", ArtifactInfo(), SCOPE)
    await store.commit(link.insert())
    assert (await refusal_of(store.service.ensure_local(link))).code == "payload_too_large"
    assert store.objects.content == {}


async def test_unreferenced_objects_are_collected_after_a_grace_time() -> None:
    store = ArtifactStore()
    referenced = [await store.keep(b"%d" % number) for number in range(150)]
    orphans = [await store.service.store(b"orphan %d" % number, ArtifactInfo(), SCOPE) for number in range(150)]
    assert await store.service.collect_orphans() == []
    started = store.clock.now()
    await until(lambda: store.clock.now() > started + GRACE_MILLISECONDS)
    renewed, *old = orphans
    await store.service.store(b"orphan 0", ArtifactInfo(), SCOPE)
    collected = await store.service.collect_orphans()
    assert {each.sha256 for each in collected} == {each.sha256 for each in old}
    assert set(store.objects.content) == {each.sha256 for each in [*referenced, renewed]}


async def test_content_is_deleted_with_its_last_artifact() -> None:
    store = ArtifactStore()
    first, second = await store.keep(), await store.keep()
    assert len(store.objects.content) == 1
    await store.commit(artifacts.remove(first.artifact_id))
    assert await store.service.collect_orphans(grace=-1) == []
    await store.commit(artifacts.remove_for_conversation("here"))
    assert len(await store.service.collect_orphans(grace=-1)) == 1
    assert await store.service.get(second.artifact_id) is None


async def test_row_with_a_path_as_digest_reads_nothing() -> None:
    store = ArtifactStore()
    artifact = await store.keep()
    path = Update(ARTIFACTS, {"sha256": "../../../../etc/passwd"}, where(artifact_id=artifact.artifact_id))
    await store.commit(path)
    [row] = await store.journal.read(Select(ARTIFACTS))
    assert (await refusal_of(store.content(artifacts.from_row(row)))).code == "runtime_error"
