"""Attachments of an event become artifacts that the event references and only its conversation can read."""

import base64
from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.ingest.acceptance import IngestResult
from parlour.core.journal import Unit
from parlour.core.model.providers import ProviderFailed
from parlour.core.store.artifacts import ArtifactInfo, ArtifactScope
from parlour.core.store.event_attachments import MAX_FILES_PER_EVENT
from parlour.core.store.tables import ARTIFACTS, EVENTS, TRANSCRIPT
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.limits import TRANSCRIPT_TEXT_BYTES

from ..support import DISCOVERY, PuppetRun, World

PNG = b"\x89PNG\r\n\x1a\n rest"
MULTIMODAL = {**DISCOVERY, "manifest": {**DISCOVERY["manifest"], "capabilities": {"multimodal_input": True}}}  # type: ignore[dict-item]


def encode(content: bytes) -> str:
    return base64.b64encode(content).decode()


def picture(content: bytes = PNG, **fields: Any) -> dict[str, Any]:
    return {"type": "image", "name": "cat.png", "content_base64": encode(content), **fields}


async def say(world: World, *contents: Any, **fields: Any) -> IngestResult:
    said = {"contents": list(contents), **fields.pop("input", {})}
    return await world.say("", input=said, **fields)


async def open_world(*contents: Any, discovery: dict[str, Any] = MULTIMODAL, **fields: Any) -> tuple[World, PuppetRun]:
    world = await World.open(discovery=discovery)
    await say(world, *contents, **fields)
    return world, await world.plugins.next_run()


async def upload(world: World, content: bytes = PNG, owner: str = "key:1") -> str:
    incoming = await world.core.artifacts.start_upload()
    await incoming.write(content)
    described = ArtifactInfo(name="cat.png", source="upload", expires_at=world.clock.now() + 86_400_000)
    artifact = await world.core.artifacts.finish_upload(incoming, described, ArtifactScope(), owner)
    await world.journal.commit(Unit("test", (artifact.insert(),)))
    return artifact.artifact_id


@pytest.mark.parametrize("size", [1, 40 * 1024], ids=["small", "large"])
async def test_content_of_an_event_becomes_an_artifact_reference(size: int) -> None:
    content = PNG + b"x" * size
    world, run = await open_world({"type": "text", "text": "look"}, picture(content))
    [row] = world.rows(ARTIFACTS)
    [event] = world.rows(EVENTS)
    assert world.objects.content[row["sha256"]] == content
    assert (row["mime_type"], row["source"], row["conversation_id"]) == ("image/png", "event", event["conversation_id"])
    assert encode(content) not in event["body"] + world.rows(TRANSCRIPT)[0]["content_json"]
    context = AgentRunContext.model_validate(run.context)
    element = context.input.contents[1]
    assert (element.artifact_id, element.size_bytes) == (row["artifact_id"], len(content))  # type: ignore[union-attr]
    assert [ref.artifact_id for ref in context.input.attachments] == [row["artifact_id"]]
    assert loads(world.rows(TRANSCRIPT)[0]["artifact_refs"])[0]["artifact_id"] == row["artifact_id"]


async def test_content_of_a_quote_becomes_an_artifact_reference() -> None:
    quote = {"type": "quote", "contents": [{"type": "quote", "contents": [picture()]}]}
    world, run = await open_world(quote)
    inner = run.context["input"]["contents"][0]["contents"][0]["contents"][0]
    assert inner["artifact_id"] == world.rows(ARTIFACTS)[0]["artifact_id"]
    assert "content_base64" not in inner


async def test_content_of_a_message_chain_becomes_an_artifact_reference() -> None:
    chain = [{"type": "Image", "base64": encode(PNG), "name": "a"}, {"type": "Plain", "text": "x"}, 5, {"type": 1}]
    world, run = await open_world(input={"text": "hi"}, data={"message_chain": chain, "new_content": "odd"})
    data = run.context["event"]["data"]
    [row] = world.rows(ARTIFACTS)
    image = {"type": "Image", "name": "a", "artifact_id": row["artifact_id"]}
    assert data == {"message_chain": [image, *chain[1:]], "new_content": "odd"}


async def test_link_is_registered_and_stays_a_link() -> None:
    link = {"type": "image", "url": "https://example.org/a.png"}
    world, run = await open_world(link)
    [row] = world.rows(ARTIFACTS)
    assert (row["location"], row["reference"]) == ("url", link["url"])
    assert run.context["input"]["contents"] == [link]
    assert [ref["artifact_id"] for ref in run.context["input"]["attachments"]] == [row["artifact_id"]]


async def test_text_only_runner_gets_a_text_note_for_files() -> None:
    world, run = await open_world({"type": "text", "text": "look"}, picture(), discovery=DISCOVERY)
    [row] = world.rows(ARTIFACTS)
    said = run.context["input"]
    note = f"[image: cat.png, image/png, {len(PNG)} bytes, artifact {row['artifact_id']}]"
    assert said["contents"] == [{"type": "text", "text": "look"}, {"type": "text", "text": note}]
    assert said["text"] == f"look\n{note}"
    assert said["attachments"][0]["artifact_id"] == row["artifact_id"]
    AgentRunContext.model_validate(run.context)


async def test_file_note_does_not_change_the_given_text() -> None:
    _, run = await open_world(picture(), input={"text": "look"}, discovery=DISCOVERY)
    assert run.context["input"]["text"] == "look"


async def test_steering_message_gets_a_text_note_for_files() -> None:
    world, run = await open_world({"type": "text", "text": "hi"}, discovery=DISCOVERY)
    await say(world, picture())
    pulled = await world.call(run, "steering_pull", mode="all")
    [element] = pulled["items"][0]["input"]["contents"]
    assert element["text"].startswith("[image: cat.png")


@pytest.mark.parametrize(
    ("contents", "field"),
    [
        ([picture(content_base64="no base64!")], "input.contents.0.content_base64"),
        ([{"type": "text", "text": "x"}, {"type": "file", "artifact_id": "foreign"}], "input.contents.1.artifact_id"),
        ([picture(b"%d" % number) for number in range(MAX_FILES_PER_EVENT + 1)], "at most 50 files"),
    ],
    ids=["not base64", "unknown", "too many"],
)
async def test_invalid_attachment_is_refused_with_its_field(contents: list[Any], field: str) -> None:
    world = await World.open()
    with pytest.raises(ProviderFailed) as refusal:
        await say(world, *contents)
    assert (refusal.value.code, field in refusal.value.message) == ("invalid_argument", True)
    assert world.rows(EVENTS) == world.rows(ARTIFACTS) == []


@pytest.mark.parametrize("named_in", ["contents", "attachments"])
async def test_upload_joins_the_conversation_of_the_message_that_names_it(named_in: str) -> None:
    world = await World.open(discovery=MULTIMODAL)
    file_id = await upload(world)
    if named_in == "contents":
        await say(world, {"type": "image", "artifact_id": file_id})
    else:
        ref = {"artifact_id": file_id, "artifact_type": "lie", "mime_type": "text/html", "sha256": "lie"}
        await say(world, input={"text": "look", "attachments": [ref]})
    run = await world.plugins.next_run()
    [row] = world.rows(ARTIFACTS)
    [ref] = run.context["input"]["attachments"]
    assert (row["conversation_id"], row["expires_at"]) == (world.rows(EVENTS)[0]["conversation_id"], 0)
    assert (ref["artifact_id"], ref["mime_type"], ref["sha256"]) == (file_id, "image/png", row["sha256"])
    assert "expires_at" not in ref


async def test_upload_of_another_principal_is_refused() -> None:
    world = await World.open()
    file_id = await upload(world, owner="key:2")
    with pytest.raises(ProviderFailed):
        await say(world, {"type": "image", "artifact_id": file_id})
    assert world.rows(ARTIFACTS)[0]["conversation_id"] == ""


async def test_file_of_another_conversation_is_refused_and_of_the_same_accepted() -> None:
    world = await World.open()
    file_id = await upload(world)
    await say(world, {"type": "image", "artifact_id": file_id}, chat="one")
    with pytest.raises(ProviderFailed):
        await say(world, {"type": "image", "artifact_id": file_id}, chat="two")
    await say(world, {"type": "image", "artifact_id": file_id}, chat="one")
    assert len(world.rows(EVENTS)) == 2


async def test_redelivery_is_recognized_though_its_upload_is_gone() -> None:
    world = await World.open()
    file_id = await upload(world)
    element = {"type": "image", "artifact_id": file_id}
    first = await say(world, element, event_id="once")
    again = await say(world, element, event_id="once")
    broken = await say(world, {"type": "image", "artifact_id": "gone"}, event_id="once")
    assert [first.duplicate, again.duplicate, broken.duplicate] == [False, True, True]
    assert {first.seq, again.seq, broken.seq} == {first.seq}


async def test_redelivered_event_stores_its_files_once() -> None:
    world = await World.open()
    await say(world, picture(), event_id="once")
    await say(world, picture(), event_id="once")
    assert len(world.rows(ARTIFACTS)) == len(world.objects.content) == 1


async def test_long_text_is_stored_as_artifact_beside_the_transcript() -> None:
    world = await World.open()
    text = "é" * TRANSCRIPT_TEXT_BYTES
    await world.say(text)
    run = await world.plugins.next_run()
    [item] = world.rows(TRANSCRIPT)
    [ref] = loads(item["artifact_refs"])
    assert len(item["content"].encode()) <= TRANSCRIPT_TEXT_BYTES
    assert world.objects.content[ref["sha256"]] == text.encode()
    assert run.context["input"] == {"text": text}


async def test_event_without_files_writes_no_artifacts() -> None:
    world = await World.open()
    await say(world, {"type": "text", "text": "hi"}, {"type": "json", "value": 1})
    assert world.objects.content == {}
    assert world.rows(ARTIFACTS) == []
