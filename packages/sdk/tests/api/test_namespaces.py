"""Tests conveniences of the API clients: shorthand arguments, content in chunks, and errors for invalid arguments."""

import base64
import hashlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.api import AgentRunAPI, InvalidCall, PluginAPI
from parlour_sdk.protocol.chain import At, Plain
from parlour_sdk.protocol.content import JsonElement, TextElement
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.limits import ARTIFACT_CHUNK_BYTES, RERANK_DOCUMENTS, STORAGE_VALUE_BYTES
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.runs import NewRunEvent
from parlour_sdk.protocol.tools import ToolDetail

from .recording import RecordingCaller

ARTIFACT = {"artifact_id": "a", "artifact_type": "file", "source": "run"}


def run(**answers: Any) -> tuple[AgentRunAPI, RecordingCaller]:
    host = RecordingCaller(**answers)
    return AgentRunAPI(host, "run"), host


def plugin(**answers: Any) -> tuple[PluginAPI, RecordingCaller]:
    host = RecordingCaller(**answers)
    return PluginAPI(host), host


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


async def test_a_text_is_a_message_of_the_user() -> None:
    api, host = run()
    await api.models.invoke("m", "hi")
    assert host.data()["messages"] == [{"role": "user", "content": "hi"}]


async def test_texts_and_messages_can_be_mixed() -> None:
    api, host = run()
    await api.models.invoke("m", (Message(role="system", content="be brief"), "hi"))
    assert [(each["role"], each["content"]) for each in host.data()["messages"]] == [
        ("system", "be brief"),
        ("user", "hi"),
    ]


async def test_parts_of_a_message_keep_their_type_on_the_wire() -> None:
    api, host = run()
    await api.models.invoke("m", Message(role="user", content=[TextElement(text="a"), JsonElement(value=None)]))
    assert [part["type"] for part in host.data()["messages"][0]["content"]] == ["text", "json"]


async def test_a_tool_detail_is_sent_to_the_model_as_a_definition() -> None:
    api, host = run()
    detail = ToolDetail(tool_name="look", description="looks", parameters_schema={"type": "object"}, source="native")
    await api.models.invoke("m", "hi", tools=[detail, ToolDefinition(name="own")])
    assert host.data()["tools"][0] == {
        "name": "look",
        "description": "looks",
        "parameters_schema": {"type": "object"},
    }
    assert host.data()["tools"][1]["name"] == "own"


async def test_too_many_documents_to_rank_are_refused_with_the_limit() -> None:
    api, _ = run()
    with pytest.raises(InvalidCall, match=str(RERANK_DOCUMENTS)):
        await api.models.rerank("m", "q", ["d"] * (RERANK_DOCUMENTS + 1))


async def test_an_unknown_filter_is_refused_with_the_known_ones() -> None:
    api, host = run()
    with pytest.raises(InvalidCall, match=r"'role'.*roles"):
        await api.history.search("q", {"role": "user"})
    assert host.requests == []


async def test_a_missing_state_key_has_the_default() -> None:
    api, _ = run(state_get={"found": False})
    assert await api.state.get("actor", "k", 5) == 5
    api, _ = run(state_get={"found": True, "value": None})
    assert await api.state.get("actor", "k", 5) is None


async def test_a_steering_pull_sends_mode_and_limit_and_returns_the_items() -> None:
    item = {
        "claimed_run_id": "run",
        "runner_id": "r",
        "event": {"event_id": "e", "event_type": "message.received", "source": "api"},
        "input": {"text": "more"},
    }
    api, host = run(steering_pull={"items": [item]})
    [pulled] = await api.steering.pull("one-at-a-time", limit=3)
    assert pulled.input.text == "more"
    assert (host.data()["mode"], host.data()["limit"]) == ("one-at-a-time", 3)


async def test_storage_returns_bytes_or_none_for_a_missing_key() -> None:
    api, _ = run(storage_get={"found": True, "content_base64": encoded(b"\x00\xff")})
    assert await api.storage.get("plugin", "k") == b"\x00\xff"
    api, _ = run(storage_get={"found": False})
    assert await api.storage.get("plugin", "k") is None


async def test_storage_refuses_a_text_with_the_remedy() -> None:
    api, host = run()
    await api.storage.set("plugin", "k", b"\x00")
    assert host.data()["content_base64"] == "AA=="
    with pytest.raises(InvalidCall, match=r"\.encode\(\)"):
        await api.storage.set("plugin", "k", "text")  # type: ignore[arg-type]


async def test_a_storage_value_that_is_too_large_is_refused_before_it_is_sent() -> None:
    api, host = run()
    with pytest.raises(AgentAPIException) as refusal:
        await api.storage.set("plugin", "k", b"x" * (STORAGE_VALUE_BYTES + 1))
    assert (refusal.value.code, host.requests) == ("payload_too_large", [])


async def some(*blocks: bytes) -> AsyncGenerator[bytes, None]:
    for block in blocks:
        yield block


LARGE = bytes(range(256)) * 2500  # two and a half chunks


@pytest.mark.parametrize("made", ["bytes", "path", "blocks"])
async def test_an_artifact_is_sent_in_chunks_and_its_digest_with_the_last_one(made: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(LARGE)
    content = {"bytes": LARGE, "path": tmp_path / "notes.txt", "blocks": some(LARGE[:10], LARGE[10:])}[made]
    api, host = run(artifact_create=[{"upload_id": "u"}, {"upload_id": "u"}, {"artifact": ARTIFACT}])
    created = await api.artifacts.create(content, "note", metadata={"k": 1})
    assert created.artifact_id == "a"
    sent = [data for _, data, _ in host.requests]
    assert b"".join(base64.b64decode(data["content_base64"]) for data in sent) == LARGE
    assert max(len(base64.b64decode(data["content_base64"])) for data in sent) == ARTIFACT_CHUNK_BYTES
    assert [data["is_last"] for data in sent] == [False, False, True]
    assert [data.get("upload_id") for data in sent] == [None, "u", "u"]
    assert [data.get("sha256") for data in sent] == [None, None, hashlib.sha256(LARGE).hexdigest()]
    assert {data["artifact_type"] for data in sent} == {"note"}


async def test_an_artifact_from_a_path_has_its_name_and_mime_type(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>")
    api, host = run(artifact_create={"artifact": ARTIFACT})
    await api.artifacts.create(tmp_path / "page.html")
    assert (host.data()["name"], host.data()["mime_type"]) == ("page.html", "text/html")


async def test_an_empty_artifact_is_one_empty_chunk() -> None:
    api, host = run(artifact_create={"artifact": ARTIFACT})
    await api.artifacts.create(b"")
    assert [(data["content_base64"], data["is_last"]) for _, data, _ in host.requests] == [("", True)]


async def test_text_content_is_refused_with_the_accepted_types() -> None:
    api, host = run()
    with pytest.raises(InvalidCall, match=r"artifact_create: content: .*pathlib\.Path.*not str"):
        await api.artifacts.create("notes.txt")  # type: ignore[arg-type]
    assert host.requests == []


async def test_an_artifact_is_streamed_chunk_by_chunk() -> None:
    chunks = [b"a" * 3, b"b" * 2]
    answers = [
        {"artifact_id": "a", "offset": 0, "content_base64": encoded(chunks[0]), "has_more": True},
        {"artifact_id": "a", "offset": 3, "content_base64": encoded(chunks[1])},
    ]
    api, host = run(artifact_read=answers)
    assert [chunk async for chunk in api.artifacts.stream("a")] == chunks
    assert [data["offset"] for _, data, _ in host.requests] == [0, 3]


async def test_an_empty_chunk_that_announces_more_ends_the_stream_with_an_error() -> None:
    api, _ = run(artifact_read={"artifact_id": "a", "offset": 0, "has_more": True})
    with pytest.raises(AgentAPIException, match="promised more"):
        await anext(api.artifacts.stream("a"))


def file_chunk(content: bytes, offset: int, more: bool) -> dict[str, Any]:
    facts = {"file_key": "f", "file_name": "f.bin", "mime_type": "x/y", "size_bytes": 5}
    return {**facts, "offset": offset, "content_base64": encoded(content), "has_more": more}


async def test_a_file_is_fetched_completely_or_streamed() -> None:
    for whole in (True, False):
        api, host = run(get_file=[file_chunk(b"abc", 0, True), file_chunk(b"de", 3, False)])
        if whole:
            fetched = await api.files.get("f")
            assert (fetched.content, fetched.file_name, fetched.mime_type) == (b"abcde", "f.bin", "x/y")
        else:
            assert [chunk async for chunk in api.files.stream("f")] == [b"abc", b"de"]
        assert [data["offset"] for _, data, _ in host.requests] == [0, 3]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("hi", [{"type": "Plain", "text": "hi"}]),
        (Plain(text="hi"), [{"type": "Plain", "text": "hi"}]),
        ([At(target="u"), " hi"], [{"type": "At", "target": "u"}, {"type": "Plain", "text": " hi"}]),
    ],
    ids=["a text", "a component", "several"],
)
async def test_a_message_is_a_text_a_component_or_a_list(given: Any, sent: Any) -> None:
    api, host = plugin()
    await api.messages.send("bot", "group", "g", given)
    assert host.data()["chain"] == sent


async def test_an_empty_message_is_refused() -> None:
    api, host = plugin()
    with pytest.raises(InvalidCall, match="chain"):
        await api.messages.send("bot", "group", "g", [])
    assert host.requests == []


async def test_a_large_upload_is_sent_in_chunks() -> None:
    api, host = plugin(upload_file=[{"upload_id": "u"}, {"upload_id": "u"}, {"file_id": "f"}])
    assert (await api.media.upload("bot", LARGE, "x.bin")).file_id == "f"
    assert [(data.get("upload_id"), data["is_last"]) for _, data, _ in host.requests] == [
        (None, False),
        ("u", False),
        ("u", True),
    ]


@pytest.mark.parametrize(
    ("feature", "supported"), [("edit_message", True), ("message.edited", True), ("pin", True), ("react", False)]
)
async def test_supports_finds_apis_events_and_actions_of_a_bot(feature: str, supported: bool) -> None:
    facts = {"bot_id": "b", "adapter": "x", "apis": ["edit_message"], "events": ["message.edited"], "actions": ["pin"]}
    api, _ = plugin(get_bot_capabilities=facts)
    assert await api.listing.supports("b", feature) is supported


async def test_a_run_is_created_for_either_an_agent_or_a_runner() -> None:
    api, host = plugin()
    await api.runs.create("agent", "do it")
    assert host.data()["event"]["input"]["text"] == "do it"
    await api.runs.create(runner_id="plugin:a/b/c", event=NewRunEvent(data={"n": 1}), config={"x": 1})
    assert (host.data()["runner_id"], host.data()["event"]["data"]) == ("plugin:a/b/c", {"n": 1})
    for wrong in ({}, {"agent_id": "a", "runner_id": "r"}):
        with pytest.raises(InvalidCall, match="not both"):
            await api.runs.create(**wrong)


async def test_a_claim_returns_the_run_with_its_lease() -> None:
    context = {
        "run_id": "r",
        "trigger": {"type": "api.invoked", "source": "api"},
        "event": {"event_id": "e", "event_type": "api.invoked", "source": "api"},
        "input": {},
        "delivery": {"surface": "api"},
        "resources": {},
        "context": {},
        "state": {},
        "runtime": {"trace_id": "r", "attempt": 1},
    }
    ledger = {"run_id": "r", "event_id": "e", "runner_id": "x", "plugin_id": "p", "status": "claimed"}
    claimed = {
        "run": {**ledger, "created_at": 1, "updated_at": 1, "attempt": 1},
        "context": context,
        "lease": "l",
        "lease_until": 9,
    }
    api, host = plugin(run_claim={"claimed": claimed})
    found = await api.runtimes.claim("rt", wait=20)
    assert found is not None
    assert (found.lease, found.run.run_id, host.data()["wait_seconds"]) == ("l", "r", 20)
