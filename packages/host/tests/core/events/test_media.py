"""What an event brings becomes artifacts: the event holds references, its run sees them, nobody else does."""

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
SEEING = {**DISCOVERY, "manifest": {**DISCOVERY["manifest"], "capabilities": {"multimodal_input": True}}}  # type: ignore[dict-item]


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def picture(content: bytes = PNG, **fields: Any) -> dict[str, Any]:
    return {"type": "image", "name": "cat.png", "content_base64": encoded(content), **fields}


async def say(world: World, *contents: Any, **fields: Any) -> IngestResult:
    said = {"contents": list(contents), **fields.pop("input", {})}
    return await world.say("", input=said, **fields)


async def told(*contents: Any, discovery: dict[str, Any] = SEEING, **fields: Any) -> tuple[World, PuppetRun]:
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
async def test_content_in_an_event_is_replaced_by_a_reference_to_it(size: int) -> None:
    content = PNG + b"x" * size
    world, run = await told({"type": "text", "text": "look"}, picture(content))
    [row] = world.rows(ARTIFACTS)
    [event] = world.rows(EVENTS)
    assert world.objects.content[row["sha256"]] == content
    assert (row["mime_type"], row["source"], row["conversation_id"]) == ("image/png", "event", event["conversation_id"])
    assert encoded(content) not in event["body"] + world.rows(TRANSCRIPT)[0]["content_json"]
    context = AgentRunContext.model_validate(run.context)
    element = context.input.contents[1]
    assert (element.artifact_id, element.size_bytes) == (row["artifact_id"], len(content))  # type: ignore[union-attr]
    assert [ref.artifact_id for ref in context.input.attachments] == [row["artifact_id"]]
    assert loads(world.rows(TRANSCRIPT)[0]["artifact_refs"])[0]["artifact_id"] == row["artifact_id"]


async def test_content_in_a_quote_is_replaced_too() -> None:
    quote = {"type": "quote", "contents": [{"type": "quote", "contents": [picture()]}]}
    world, run = await told(quote)
    inner = run.context["input"]["contents"][0]["contents"][0]["contents"][0]
    assert inner["artifact_id"] == world.rows(ARTIFACTS)[0]["artifact_id"]
    assert "content_base64" not in inner


async def test_content_in_a_platforms_own_message_is_replaced_too() -> None:
    chain = [{"type": "Image", "base64": encoded(PNG), "name": "a"}, {"type": "Plain", "text": "x"}, 5, {"type": 1}]
    world, run = await told(input={"text": "hi"}, data={"message_chain": chain, "new_content": "odd"})
    data = run.context["event"]["data"]
    [row] = world.rows(ARTIFACTS)
    image = {"type": "Image", "name": "a", "artifact_id": row["artifact_id"]}
    assert data == {"message_chain": [image, *chain[1:]], "new_content": "odd"}


async def test_a_link_is_registered_and_stays_a_link() -> None:
    link = {"type": "image", "url": "https://example.org/a.png"}
    world, run = await told(link)
    [row] = world.rows(ARTIFACTS)
    assert (row["location"], row["reference"]) == ("url", link["url"])
    assert run.context["input"]["contents"] == [link]
    assert [ref["artifact_id"] for ref in run.context["input"]["attachments"]] == [row["artifact_id"]]


async def test_a_runner_for_text_only_is_told_of_files_in_words() -> None:
    world, run = await told({"type": "text", "text": "look"}, picture(), discovery=DISCOVERY)
    [row] = world.rows(ARTIFACTS)
    said = run.context["input"]
    note = f"[image: cat.png, image/png, {len(PNG)} bytes, artifact {row['artifact_id']}]"
    assert said["contents"] == [{"type": "text", "text": "look"}, {"type": "text", "text": note}]
    assert said["text"] == f"look\n{note}"
    assert said["attachments"][0]["artifact_id"] == row["artifact_id"]
    AgentRunContext.model_validate(run.context)


async def test_words_for_files_leave_a_given_text_alone() -> None:
    _, run = await told(picture(), input={"text": "look"}, discovery=DISCOVERY)
    assert run.context["input"]["text"] == "look"


async def test_a_steering_message_is_told_in_words_too() -> None:
    world, run = await told({"type": "text", "text": "hi"}, discovery=DISCOVERY)
    await say(world, picture())
    pulled = await world.call(run, "steering_pull", mode="all")
    [element] = pulled["items"][0]["input"]["contents"]
    assert element["text"].startswith("[image: cat.png")


@pytest.mark.parametrize(
    ("contents", "field"),
    [
        ([picture(content_base64="no base64!")], "input.contents.0.content_base64"),
        ([{"type": "text", "text": "x"}, {"type": "file", "artifact_id": "nobody's"}], "input.contents.1.artifact_id"),
        ([picture(b"%d" % number) for number in range(MAX_FILES_PER_EVENT + 1)], "at most 50 files"),
    ],
    ids=["not base64", "unknown", "too many"],
)
async def test_what_can_not_be_taken_is_refused_with_its_field_and_nothing_is_recorded(
    contents: list[Any], field: str
) -> None:
    world = await World.open()
    with pytest.raises(ProviderFailed) as refusal:
        await say(world, *contents)
    assert (refusal.value.code, field in refusal.value.message) == ("invalid_argument", True)
    assert world.rows(EVENTS) == world.rows(ARTIFACTS) == []


@pytest.mark.parametrize("named_in", ["contents", "attachments"])
async def test_an_upload_becomes_the_conversations_when_a_message_names_it(named_in: str) -> None:
    world = await World.open(discovery=SEEING)
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


async def test_an_upload_of_somebody_else_is_no_file() -> None:
    world = await World.open()
    file_id = await upload(world, owner="key:2")
    with pytest.raises(ProviderFailed):
        await say(world, {"type": "image", "artifact_id": file_id})
    assert world.rows(ARTIFACTS)[0]["conversation_id"] == ""


async def test_a_file_of_another_conversation_is_no_file_and_one_of_this_can_be_sent_again() -> None:
    world = await World.open()
    file_id = await upload(world)
    await say(world, {"type": "image", "artifact_id": file_id}, chat="one")
    with pytest.raises(ProviderFailed):
        await say(world, {"type": "image", "artifact_id": file_id}, chat="two")
    await say(world, {"type": "image", "artifact_id": file_id}, chat="one")
    assert len(world.rows(EVENTS)) == 2


async def test_the_same_event_again_is_the_same_event_though_its_upload_is_gone() -> None:
    world = await World.open()
    file_id = await upload(world)
    element = {"type": "image", "artifact_id": file_id}
    first = await say(world, element, event_id="once")
    again = await say(world, element, event_id="once")
    broken = await say(world, {"type": "image", "artifact_id": "gone"}, event_id="once")
    assert [first.duplicate, again.duplicate, broken.duplicate] == [False, True, True]
    assert {first.seq, again.seq, broken.seq} == {first.seq}


async def test_an_event_sent_twice_has_its_files_once() -> None:
    world = await World.open()
    await say(world, picture(), event_id="once")
    await say(world, picture(), event_id="once")
    assert len(world.rows(ARTIFACTS)) == len(world.objects.content) == 1


async def test_a_text_longer_than_a_transcript_item_is_kept_whole_beside_it() -> None:
    world = await World.open()
    text = "é" * TRANSCRIPT_TEXT_BYTES
    await world.say(text)
    run = await world.plugins.next_run()
    [item] = world.rows(TRANSCRIPT)
    [ref] = loads(item["artifact_refs"])
    assert len(item["content"].encode()) <= TRANSCRIPT_TEXT_BYTES
    assert world.objects.content[ref["sha256"]] == text.encode()
    assert run.context["input"] == {"text": text}


async def test_an_event_without_files_touches_no_store() -> None:
    world = await World.open()
    await say(world, {"type": "text", "text": "hi"}, {"type": "json", "value": 1})
    assert world.objects.content == {}
    assert world.rows(ARTIFACTS) == []
