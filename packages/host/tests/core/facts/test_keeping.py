"""Artifacts are kept, limited, shown to those whose they are, found damaged when they are, and collected."""

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

HERE = ArtifactScope(conversation_id="here", run_id="run", runner_id="runner", binding_id="agent:bot")
ANOTHER_RUN = ArtifactScope(conversation_id="here", run_id="later", runner_id="runner", binding_id="agent:bot")
ELSEWHERE = ArtifactScope(conversation_id="elsewhere", run_id="other", runner_id="runner", binding_id="agent:bot")
PNG = b"\x89PNG\r\n\x1a\n rest"


class Web:
    """A fetcher of one page."""

    def __init__(self, *blocks: bytes) -> None:
        self._blocks = blocks
        self.asked: list[tuple[str, str]] = []

    async def fetch(self, location: str, reference: str) -> AsyncIterator[bytes]:
        self.asked.append((location, reference))
        for block in self._blocks:
            yield block


class Shelf:
    def __init__(self, fetcher: Any = None, **sizes: int) -> None:
        self.journal = MemoryJournal()
        self.clock = LoopClock()
        self.objects = MemoryObjects(self.clock.now)
        self.kept = ArtifactService(
            self.journal, self.objects, fetcher or NullLinkFetcher(), CountedIds(), self.clock, ArtifactLimits(**sizes)
        )

    async def keep(self, content: bytes = b"hello", place: ArtifactScope = HERE, **description: Any) -> Artifact:
        artifact = await self.kept.store(content, ArtifactInfo(**description), place)
        await self.commit(artifact.insert())
        return artifact

    async def commit(self, *statements: Any) -> None:
        await self.journal.commit(Unit("test", statements))

    async def content(self, artifact: Artifact) -> bytes:
        return await self.kept.read(await self.kept.ensure_local(artifact), 0, MAX_READ_BYTES)


async def refused(asking: Any) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as refusal:
        await asking
    return refusal.value


async def test_an_artifact_is_found_and_read_as_it_was_kept() -> None:
    shelf = Shelf()
    made = await shelf.keep(b"hello", artifact_type="note", name="a.txt", metadata={"k": [1]})
    found = await shelf.kept.get_visible(made.artifact_id, HERE)
    assert found == made
    assert await shelf.content(found) == b"hello"
    assert found.to_metadata()["mime_type"] == "text/plain"
    assert {"location", "reference"}.isdisjoint(found.to_metadata())


@pytest.mark.parametrize(
    ("belongs", "looks", "seen"),
    [
        (HERE, HERE, True),
        (HERE, ANOTHER_RUN, True),
        (HERE, ELSEWHERE, False),
        (ArtifactScope(conversation_id="here", thread_id="1"), ANOTHER_RUN, False),
        (
            ArtifactScope(conversation_id="here", thread_id="1"),
            ArtifactScope(conversation_id="here", thread_id="1"),
            True,
        ),
        (ArtifactScope(run_id="run"), HERE, True),
        (ArtifactScope(run_id="run"), ANOTHER_RUN, False),
        (ArtifactScope(binding_id="agent:bot"), ELSEWHERE, True),
        (ArtifactScope(binding_id="agent:bot"), ArtifactScope(binding_id="agent:other"), False),
        (ArtifactScope(), HERE, False),
        (ArtifactScope(), ArtifactScope(), False),
        (ArtifactScope("another", conversation_id="here"), HERE, False),
    ],
)
async def test_who_sees_what(belongs: ArtifactScope, looks: ArtifactScope, seen: bool) -> None:
    shelf = Shelf()
    artifact = await shelf.keep(place=belongs)
    if seen:
        assert await shelf.kept.get_visible(artifact.artifact_id, looks)
    else:
        foreign = await refused(shelf.kept.get_visible(artifact.artifact_id, looks))
        absent = await refused(Shelf().kept.get_visible(artifact.artifact_id, looks))
        assert (foreign.code, foreign.message) == (absent.code, absent.message)
        assert foreign.code == "not_found"


async def test_an_expired_artifact_is_as_if_it_never_was() -> None:
    shelf = Shelf()
    artifact = await shelf.keep(expires_at=shelf.clock.now() + 1000)
    assert await shelf.kept.get(artifact.artifact_id) is not None
    await until(lambda: shelf.clock.now() >= artifact.info.expires_at)
    assert await shelf.kept.get(artifact.artifact_id) is None


async def test_a_type_that_is_not_so_is_corrected_and_noted() -> None:
    shelf = Shelf()
    lying = await shelf.keep(b"<script>alert(1)</script>", mime_type="image/png", metadata={"k": 1})
    honest = await shelf.keep(PNG, mime_type="image/png")
    assert (lying.info.mime_type, honest.info.mime_type) == ("text/html", "image/png")
    assert lying.info.metadata == {"k": 1, "declared_mime_type": "image/png"}
    assert honest.info.metadata == {}


@pytest.mark.parametrize(
    ("name", "kept"),
    [("../../etc/passwd", "passwd"), ("C:\\a\\b.txt", "b.txt"), ("a\r\nb", "ab"), ("..", ""), ("é.txt", "é.txt")],
)
async def test_a_name_has_no_folders_and_no_signs(name: str, kept: str) -> None:
    assert (await Shelf().keep(name=name)).info.name == kept


async def test_a_file_over_the_limit_is_refused_and_leaves_nothing() -> None:
    shelf = Shelf(artifact_bytes=1024 * 1024)
    incoming = await shelf.kept.start_upload()
    await incoming.write(b"x" * 1024 * 1024)
    refusal = await refused(incoming.write(b"x"))
    assert (refusal.code, "1 MiB" in refusal.message) == ("payload_too_large", True)
    assert shelf.objects.content == {}


async def test_the_quota_counts_every_artifact_and_forgets_those_that_are_gone() -> None:
    shelf = Shelf(quota_bytes=10)
    first = await shelf.keep(b"12345")
    await shelf.keep(b"12345")
    assert (await refused(shelf.keep(b"1"))).code == "payload_too_large"
    await shelf.kept.remove(first)
    await shelf.keep(b"12345")
    assert (await refused(shelf.keep(b"1"))).code == "payload_too_large"
    await shelf.commit(artifacts.remove_for_conversation("here"))
    await shelf.kept.collect_orphans()
    await shelf.keep(b"1234567890")


async def test_the_quota_is_known_after_a_restart() -> None:
    shelf = Shelf(quota_bytes=10)
    await shelf.keep(b"1234567890")
    again = ArtifactService(
        shelf.journal, shelf.objects, NullLinkFetcher(), CountedIds(), shelf.clock, ArtifactLimits(quota_bytes=10)
    )
    assert (await refused(again.store(b"1", ArtifactInfo(), HERE))).code == "payload_too_large"


async def test_what_was_abandoned_counts_no_more() -> None:
    shelf = Shelf(quota_bytes=10)
    for _ in range(3):
        incoming = await shelf.kept.start_upload()
        await incoming.write(b"12345678")
        incoming.abort()
        incoming.abort()
    await shelf.keep(b"1234567890")


async def test_a_digest_that_is_not_the_contents_is_refused() -> None:
    shelf = Shelf(quota_bytes=5)
    for _ in range(2):
        incoming = await shelf.kept.start_upload()
        await incoming.write(b"hello")
        refusal = await refused(shelf.kept.finish_upload(incoming, ArtifactInfo(), HERE, sha256="0" * 64))
        assert refusal.code == "invalid_argument"


@pytest.mark.parametrize("damage", ["missing", "damaged"])
async def test_content_that_is_missing_or_cut_is_told_and_not_given(damage: str) -> None:
    shelf = Shelf()
    artifact = await shelf.keep(b"hello")
    if damage == "missing":
        del shelf.objects.content[artifact.sha256]
    else:
        shelf.objects.content[artifact.sha256] = b"hel"
    refusal = await refused(shelf.content(artifact))
    assert (refusal.code, damage in refusal.message) == ("runtime_error", True)


async def test_a_read_is_bounded() -> None:
    shelf = Shelf()
    artifact = await shelf.keep()
    assert (await refused(shelf.kept.read(artifact, 0, MAX_READ_BYTES + 1))).code == "payload_too_large"


async def test_a_link_is_not_fetched_by_a_host_that_fetches_none() -> None:
    shelf = Shelf()
    link = shelf.kept.create_link("https://example.org/a.png", ArtifactInfo("image"), HERE)
    refusal = await refused(shelf.kept.ensure_local(link))
    assert (refusal.code, "example.org" in refusal.message) == ("not_supported", False)
    assert "example.org" not in str(link.to_metadata())


async def test_a_link_is_fetched_on_the_first_read_and_then_kept() -> None:
    web = Web(PNG[:4], PNG[4:])
    shelf = Shelf(web)
    link = shelf.kept.create_link("https://example.org/a", ArtifactInfo("image", mime_type="text/html"), HERE)
    await shelf.commit(link.insert())
    for _ in range(2):
        found = await shelf.kept.get_visible(link.artifact_id, HERE)
        assert await shelf.content(found) == PNG
    assert web.asked == [("url", "https://example.org/a")]
    assert (await shelf.kept.get_visible(link.artifact_id, HERE)).info.mime_type == "image/png"


async def test_a_link_to_too_much_is_given_up() -> None:
    shelf = Shelf(Web(b"x" * 600_000, b"x" * 600_000), artifact_bytes=1024 * 1024)
    link = shelf.kept.create_link("https://example.org/a", ArtifactInfo(), HERE)
    await shelf.commit(link.insert())
    assert (await refused(shelf.kept.ensure_local(link))).code == "payload_too_large"
    assert shelf.objects.content == {}


async def test_objects_that_nobody_names_are_collected_when_they_are_old() -> None:
    shelf = Shelf()
    kept = [await shelf.keep(b"%d" % number) for number in range(150)]
    orphans = [await shelf.kept.store(b"orphan %d" % number, ArtifactInfo(), HERE) for number in range(150)]
    assert await shelf.kept.collect_orphans() == []
    began = shelf.clock.now()
    await until(lambda: shelf.clock.now() > began + GRACE_MILLISECONDS)
    renewed, *old = orphans
    await shelf.kept.store(b"orphan 0", ArtifactInfo(), HERE)
    collected = await shelf.kept.collect_orphans()
    assert {each.sha256 for each in collected} == {each.sha256 for each in old}
    assert set(shelf.objects.content) == {each.sha256 for each in [*kept, renewed]}


async def test_content_goes_when_the_last_artifact_that_has_it_goes() -> None:
    shelf = Shelf()
    first, second = await shelf.keep(), await shelf.keep()
    assert len(shelf.objects.content) == 1
    await shelf.commit(artifacts.remove(first.artifact_id))
    assert await shelf.kept.collect_orphans(grace=-1) == []
    await shelf.commit(artifacts.remove_for_conversation("here"))
    assert len(await shelf.kept.collect_orphans(grace=-1)) == 1
    assert await shelf.kept.get(second.artifact_id) is None


async def test_a_row_that_was_changed_behind_the_hosts_back_reads_nothing_else() -> None:
    shelf = Shelf()
    artifact = await shelf.keep()
    path = Update(ARTIFACTS, {"sha256": "../../../../etc/passwd"}, where(artifact_id=artifact.artifact_id))
    await shelf.commit(path)
    [row] = await shelf.journal.read(Select(ARTIFACTS))
    assert (await refused(shelf.content(artifacts.from_row(row)))).code == "runtime_error"
