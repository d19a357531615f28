"""Artifacts of a run over the gate: metadata, reading and uploading in chunks, and isolation of conversations."""

import asyncio
import base64
import hashlib
from typing import Any

import pytest

from parlour.core.actions.artifacts import MAX_OPEN_UPLOADS, ArtifactActions
from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Select, Unit, Update, where
from parlour.core.model.ports import Clock
from parlour.core.model.providers import NoDocuments, ProviderFailed
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.session_registry import RunSessions
from parlour.core.store.artifact_service import ArtifactLimits, ArtifactService, NullLinkFetcher
from parlour.core.store.ledger import Ledger
from parlour.core.store.tables import ARTIFACTS, RUNS
from parlour.core.system import SystemIds
from parlour.testing import MemoryJournal, MemoryObjects
from parlour.testing.memory_objects import MemoryWriting
from parlour_sdk.protocol.artifacts import (
    ArtifactChunk,
    ArtifactCreate,
    ArtifactMetadata,
    ArtifactMetadataGet,
    ArtifactRead,
    ArtifactUpload,
)

HEAD: dict[str, Any] = {"run_id": "run", "call_id": "run:1"}


@pytest.fixture
def objects() -> MemoryObjects:
    return MemoryObjects()


@pytest.fixture
def actions(journal: MemoryJournal, objects: MemoryObjects, clock: Clock) -> ArtifactActions:
    ids = SystemIds()
    sizes = ArtifactLimits(artifact_bytes=1024 * 1024)
    artifacts = ArtifactService(journal, objects, NullLinkFetcher(), ids, clock, sizes)
    return ArtifactActions(artifacts, NoDocuments(), journal, ids, clock)


async def piece(actions: ArtifactActions, caller: ActionCaller, content: bytes, **fields: Any) -> ArtifactUpload:
    encoded = base64.b64encode(content).decode()
    return await actions.create(caller, ArtifactCreate(**HEAD, artifact_type="file", content_base64=encoded, **fields))


async def make(actions: ArtifactActions, caller: ActionCaller, *pieces: bytes, **fields: Any) -> ArtifactMetadata:
    upload_id = None
    for content in pieces[:-1]:
        upload_id = (await piece(actions, caller, content, upload_id=upload_id, is_last=False)).upload_id
    made = (await piece(actions, caller, pieces[-1], upload_id=upload_id, **fields)).artifact
    assert made is not None
    return made


async def read(actions: ArtifactActions, caller: ActionCaller, artifact_id: str, **fields: Any) -> ArtifactChunk:
    return await actions.read(caller, ArtifactRead(**HEAD, artifact_id=artifact_id, **fields))


async def test_artifact_uploaded_in_chunks_is_read_in_chunks(actions: ArtifactActions, caller: ActionCaller) -> None:
    digest = hashlib.sha256(b"hello").hexdigest()
    made = await make(actions, caller, b"he", b"ll", b"o", name="a.txt", sha256=digest, metadata={"k": 1})
    assert (made.sha256, made.size_bytes, made.name, made.metadata) == (digest, 5, "a.txt", {"k": 1})
    assert (made.run_id, made.conversation_id) == ("run", "conversation")
    first = await read(actions, caller, made.artifact_id, offset=0, length=3)
    rest = await read(actions, caller, made.artifact_id, offset=3, length=3)
    assert [(each.content, each.length, each.has_more) for each in (first, rest)] == [
        (b"hel", 3, True),
        (b"lo", 2, False),
    ]
    assert await actions.metadata(caller, ArtifactMetadataGet(**HEAD, artifact_id=made.artifact_id)) == made


async def test_reading_beyond_the_end_returns_no_content(actions: ArtifactActions, caller: ActionCaller) -> None:
    made = await make(actions, caller, b"hello")
    beyond = await read(actions, caller, made.artifact_id, offset=99)
    assert (beyond.content, beyond.has_more, beyond.size_bytes) == (b"", False, 5)


async def test_empty_file_is_stored(actions: ArtifactActions, caller: ActionCaller) -> None:
    made = await make(actions, caller, b"")
    assert (made.size_bytes, (await read(actions, caller, made.artifact_id)).content) == (0, b"")


async def test_upload_counts_as_effect_and_needs_an_active_run(
    actions: ArtifactActions, caller: ActionCaller, journal: MemoryJournal
) -> None:
    await piece(actions, caller, b"x", is_last=False)
    assert not caller.run_session.has_effects
    await make(actions, caller, b"hello")
    run = await Ledger(journal).get_run("run")
    assert run is not None
    assert (caller.run_session.has_effects, run["effects"]) == (True, 1)
    await journal.commit(Unit("end", (Update(RUNS, {"status": "failed"}, where(run_id="run")),)))
    with pytest.raises(GuardFailed):
        await make(actions, caller, b"late")
    assert len(await journal.read(Select(ARTIFACTS))) == 1


async def test_unfinished_uploads_are_discarded_when_the_run_ends(
    actions: ArtifactActions, caller: ActionCaller, objects: MemoryObjects
) -> None:
    sessions = RunSessions(lambda entries: None)
    sessions.register(caller.run_session)
    upload_id = (await piece(actions, caller, b"x" * 1000, is_last=False)).upload_id
    sessions.unregister(caller.run_session)
    assert caller.run_session.uploads == {}
    with pytest.raises(CallRejected) as refusal:
        await piece(actions, caller, b"y", upload_id=upload_id)
    assert refusal.value.code == "not_found"
    assert objects.content == {}


async def test_chunk_during_the_end_of_the_run_is_refused(actions: ArtifactActions, caller: ActionCaller) -> None:
    caller.run_session.ended.set()
    with pytest.raises(CallRejected):
        await piece(actions, caller, b"x", is_last=False)
    assert caller.run_session.uploads == {}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"upload_id": "foreign"}, "not_found"),
        ({"sha256": "0" * 64}, "invalid_argument"),
        ({"expires_at": 1}, "invalid_argument"),
    ],
)
async def test_invalid_chunk_is_refused_with_its_code(
    actions: ArtifactActions, caller: ActionCaller, journal: MemoryJournal, fields: dict[str, Any], code: str
) -> None:
    with pytest.raises((CallRejected, ProviderFailed)) as refusal:
        await piece(actions, caller, b"hello", **fields)
    assert refusal.value.code == code  # type: ignore[attr-defined]
    assert await journal.read(Select(ARTIFACTS)) == []


async def test_content_other_than_base64_is_refused(actions: ArtifactActions, caller: ActionCaller) -> None:
    with pytest.raises(CallRejected) as refusal:
        await actions.create(caller, ArtifactCreate(**HEAD, artifact_type="file", content_base64="é"))
    assert refusal.value.code == "invalid_argument"


async def test_upload_over_the_size_limit_is_discarded(actions: ArtifactActions, caller: ActionCaller) -> None:
    upload_id = None
    for _ in range(4):
        upload_id = (await piece(actions, caller, b"x" * 256 * 1024, upload_id=upload_id, is_last=False)).upload_id
    with pytest.raises(ProviderFailed) as refusal:
        await piece(actions, caller, b"x", upload_id=upload_id)
    assert refusal.value.code == "payload_too_large"
    assert caller.run_session.uploads == {}


async def test_open_uploads_of_a_run_are_limited(actions: ArtifactActions, caller: ActionCaller) -> None:
    uploads = [(await piece(actions, caller, b"x", is_last=False)).upload_id for _ in range(MAX_OPEN_UPLOADS)]
    with pytest.raises(CallRejected) as refusal:
        await piece(actions, caller, b"x", is_last=False)
    assert refusal.value.code == "rate_limited"
    await piece(actions, caller, b"x", upload_id=uploads[0])
    await piece(actions, caller, b"x", is_last=False)


async def test_chunk_during_another_write_is_refused(
    actions: ArtifactActions, caller: ActionCaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_id = (await piece(actions, caller, b"a", is_last=False)).upload_id
    slow = asyncio.Event()
    write = MemoryWriting.write

    async def wait_and_write(self: MemoryWriting, block: bytes) -> None:
        await slow.wait()
        await write(self, block)

    monkeypatch.setattr(MemoryWriting, "write", wait_and_write)
    first = asyncio.create_task(piece(actions, caller, b"b", upload_id=upload_id))
    await asyncio.sleep(0)
    with pytest.raises(CallRejected) as refusal:
        await piece(actions, caller, b"c", upload_id=upload_id)
    slow.set()
    made = (await first).artifact
    assert refusal.value.code == "not_found"
    assert made is not None
    assert (await read(actions, caller, made.artifact_id)).content == b"ab"


async def test_artifact_of_another_conversation_looks_like_a_missing_one(
    actions: ArtifactActions, caller: ActionCaller, journal: MemoryJournal
) -> None:
    made = await make(actions, caller, b"hello")
    await journal.commit(
        Unit("move", (Update(ARTIFACTS, {"conversation_id": "another", "run_id": ""}, where(run_id="run")),))
    )
    refusals = []
    for artifact_id in (made.artifact_id, "nothing"):
        for call in (
            actions.metadata(caller, ArtifactMetadataGet(**HEAD, artifact_id=artifact_id)),
            read(actions, caller, artifact_id),
        ):
            with pytest.raises(ProviderFailed) as refusal:
                await call
            refusals.append((refusal.value.code, refusal.value.message.replace(artifact_id, "")))
    assert len(set(refusals)) == 1
    assert refusals[0][0] == "not_found"
