"""Files that a run makes go with its next message: in the ledger, the transcript and what is sent."""

import base64
from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.store.artifact_service import ArtifactLimits
from parlour.core.store.tables import ARTIFACTS, RUN_EVENTS, RUNS, TRANSCRIPT
from parlour_sdk.protocol.limits import ARTIFACT_CONTENT_BYTES, MESSAGE_TEXT_BYTES, RESULT_BYTES, TRANSCRIPT_TEXT_BYTES

from ..support import DISCOVERY, PuppetRun, World, until

PNG = b"\x89PNG\r\n\x1a\n rest"
ABLE: dict[str, Any] = {
    **DISCOVERY,
    "manifest": {**DISCOVERY["manifest"], "permissions": {"artifacts": ["metadata", "read", "create"]}},  # type: ignore[dict-item]
}


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


async def active(chat: str = "chat", world: World | None = None, **ports: Any) -> tuple[World, PuppetRun]:
    world = world or await World.open(discovery=ABLE, **ports)
    await world.say("hi", surface="platform", chat=chat)
    return world, await world.plugins.next_run()


def created(run: PuppetRun, content: bytes | None = PNG, **data: Any) -> dict[str, Any]:
    inline = {} if content is None else {"content_base64": encoded(content)}
    return run.result("artifact.created", {"artifact_type": "image", **inline, **data})


def message(run: PuppetRun, content: Any = "here", **fields: Any) -> dict[str, Any]:
    return run.result("message.completed", {"message": {"role": "assistant", "content": content, **fields}})


async def make(world: World, run: PuppetRun, content: bytes = b"made") -> str:
    answer = await world.call(run, "artifact_create", artifact_type="file", content_base64=encoded(content))
    return str(answer["artifact"]["artifact_id"])


def sent(world: World) -> list[list[str]]:
    """The digests of each sent message's files."""
    return [[ref["sha256"] for ref in each.message.get("artifact_refs", [])] for each in world.surface.tries]


def kinds(world: World, run: PuppetRun) -> list[str]:
    return [kind for kind, _ in world.facts(run.run_id)]


async def test_a_file_goes_with_the_next_message_and_with_no_other() -> None:
    world, run = await active()
    run.send(created(run, name="cat.png"), message(run, "one"), message(run, "two"), run.finished())
    await world.rest()
    [row] = world.rows(ARTIFACTS)
    assert sent(world) == [[row["sha256"]], []]
    items = [loads(item["artifact_refs"]) for item in world.rows(TRANSCRIPT) if item["role"] == "assistant"]
    facts = {fact["type"]: loads(fact["artifact_refs"]) for fact in world.rows(RUN_EVENTS)}
    assert [ref["artifact_id"] for ref in items[0]] == [row["artifact_id"]]
    assert items[1] == facts["run.completed"] == []
    assert facts["artifact.created"][0]["name"] == "cat.png"
    assert world.objects.content[row["sha256"]] == PNG
    assert (row["run_id"], row["source"], row["mime_type"]) == (run.run_id, "runner", "image/png")


async def test_the_ledger_tells_of_a_file_and_not_its_content() -> None:
    world, run = await active()
    run.send(created(run), message(run), run.finished())
    await world.rest()
    assert kinds(world, run) == ["artifact.created", "message.completed", "run.completed"]
    assert all(encoded(PNG) not in fact["data"] for fact in world.rows(RUN_EVENTS))


async def test_a_messages_own_files_and_those_before_it_come_together_without_repeats() -> None:
    world, run = await active()
    made = await make(world, run)
    ref = {"artifact_id": made, "artifact_type": "lie", "name": "lie", "sha256": "lie"}
    run.send(created(run), created(run, None, artifact_id=made), message(run, artifact_refs=[ref, ref]), run.finished())
    await world.rest()
    digests = {row["artifact_id"]: row["sha256"] for row in world.rows(ARTIFACTS)}
    [image] = [digest for artifact_id, digest in digests.items() if artifact_id != made]
    assert sent(world) == [[image, digests[made]]]


async def test_making_a_file_is_an_effect() -> None:
    world, run = await active()
    run.send(created(run), message(run), run.finished())
    await world.rest()
    assert world.rows(RUNS)[0]["effects"] == 1


@pytest.mark.parametrize(
    "data",
    [
        {"content_base64": encoded(b"x" * (ARTIFACT_CONTENT_BYTES + 1))},
        {"content_base64": "no base64!"},
        {"content_base64": encoded(b"x"), "sha256": "0" * 64},
        {"content_base64": encoded(b"x"), "metadata": {"long": "x" * 300_000}},
        {"artifact_id": "nobody's"},
        {"artifact_id": "mine", "content_base64": encoded(b"x")},
        {},
    ],
    ids=["too large", "not base64", "wrong digest", "too much said", "unknown", "both", "neither"],
)
async def test_a_file_that_can_not_be_taken_is_dropped_and_the_run_goes_on(data: dict[str, Any]) -> None:
    world, run = await active()
    run.send(run.result("artifact.created", {"artifact_type": "file", **data}), message(run), run.finished())
    await world.rest()
    assert kinds(world, run) == ["message.completed", "run.completed"]
    assert sent(world) == [[]]
    assert world.rows(ARTIFACTS) == []


async def test_the_limit_of_inline_content_is_named_in_the_warning(caplog: pytest.LogCaptureFixture) -> None:
    world, run = await active()
    run.send(created(run, b"x" * ARTIFACT_CONTENT_BYTES), created(run, b"x" * (ARTIFACT_CONTENT_BYTES + 1)))
    run.answer("done")
    await world.rest()
    assert f"limit of {ARTIFACT_CONTENT_BYTES} bytes" in caplog.text
    assert len(world.rows(ARTIFACTS)) == 1


async def test_a_run_can_not_show_a_file_of_another_conversation() -> None:
    world, other = await active("other")
    secret = await make(world, other, b"secret")
    _, run = await active("mine", world)
    image = {"type": "image", "artifact_id": secret}
    ref = {"artifact_id": secret, "artifact_type": "file"}
    run.send(created(run, None, artifact_id=secret))
    run.send(message(run, [{"type": "text", "text": "here"}, image], artifact_refs=[ref]), run.finished())
    await until(lambda: world.rows(RUNS, run_id=run.run_id)[0]["status"] == "completed")
    [shown] = [each for each in world.surface.tries if each.run_id == run.run_id]
    assert secret not in str(shown.message)
    assert shown.message["content"] == [{"type": "text", "text": "here"}]
    assert all(secret not in fact["data"] + fact["artifact_refs"] for fact in world.rows(RUN_EVENTS, run_id=run.run_id))


async def test_content_inside_a_message_becomes_a_reference() -> None:
    world, run = await active()
    picture = {"type": "image", "name": "cat", "content_base64": encoded(PNG)}
    quote = {"type": "quote", "contents": [picture]}
    run.send(message(run, [{"type": "text", "text": "look"}, picture, quote]), run.finished())
    await world.rest()
    [shown] = world.surface.tries
    _, image, quoted = shown.message["content"]
    assert (image["mime_type"], image["size_bytes"], "content_base64" in str(shown.message)) == (
        "image/png",
        len(PNG),
        False,
    )
    assert {image["artifact_id"], quoted["contents"][0]["artifact_id"]} == {
        row["artifact_id"] for row in world.rows(ARTIFACTS)
    }
    [item] = [item for item in world.rows(TRANSCRIPT) if item["role"] == "assistant"]
    assert (item["content"], len(loads(item["artifact_refs"]))) == ("look", 2)
    assert "artifact_refs" not in shown.message, "what an element shows is not shown again"


async def test_the_last_words_message_is_recorded_without_its_content() -> None:
    world, run = await active()
    picture = {"type": "image", "content_base64": encoded(PNG)}
    last = {"role": "assistant", "content": [picture]}
    run.send(created(run, b"text"), run.result("run.completed", {"finish_reason": "stop", "message": last}))
    await world.rest()
    assert len(sent(world)[0]) == 1
    assert all(encoded(PNG) not in fact["data"] for fact in world.rows(RUN_EVENTS))
    assert world.rows(RUNS)[0]["status"] == "completed"


async def test_fragments_left_over_take_the_files_along() -> None:
    world, run = await active()
    run.send(run.delta("frag"), created(run), run.delta("ments"))
    run.end()
    await world.rest()
    assert world.surface.texts == ["fragments"]
    assert len(sent(world)[0]) == 1


async def test_a_long_message_is_shown_in_part_with_the_whole_as_a_file_and_its_pictures() -> None:
    world, run = await active()
    text = "é" * MESSAGE_TEXT_BYTES
    picture = {"type": "image", "url": "https://example.org/a"}
    run.send(message(run, [{"type": "text", "text": text}, picture]), run.finished())
    await world.rest()
    [shown] = world.surface.tries
    [ref] = shown.message["artifact_refs"]
    part, image = shown.message["content"]
    assert (image, ref["name"], ref["mime_type"]) == (picture, "message.txt", "text/plain")
    assert shown.message["metadata"] == {"cut": True, "whole": ref["artifact_id"]}
    assert text.startswith(part["text"])
    assert len(part["text"].encode()) == MESSAGE_TEXT_BYTES
    assert world.objects.content[ref["sha256"]] == text.encode()


async def test_a_message_longer_than_a_transcript_item_is_sent_whole_and_kept_beside_the_item() -> None:
    world, run = await active()
    text = "x" * (TRANSCRIPT_TEXT_BYTES + 1)
    run.send(message(run, text), run.finished())
    await world.rest()
    [item] = [item for item in world.rows(TRANSCRIPT) if item["role"] == "assistant"]
    [ref] = loads(item["artifact_refs"])
    assert world.surface.texts == [text]
    assert sent(world) == [[]]
    assert world.objects.content[ref["sha256"]] == text.encode()


async def test_without_room_in_the_quota_a_long_answer_is_still_shown() -> None:
    world, run = await active(sizes=ArtifactLimits(quota_bytes=1024))
    run.send(created(run, b"x" * 2000), message(run, "x" * (MESSAGE_TEXT_BYTES + 1)), run.finished())
    await world.rest()
    assert world.surface.texts == ["x" * MESSAGE_TEXT_BYTES]
    assert world.surface.tries[0].message["metadata"] == {"cut": True}
    assert world.rows(ARTIFACTS) == []


async def test_a_value_that_is_too_large_for_a_message_is_a_file_of_it() -> None:
    world, run = await active()
    small, large = {"type": "json", "value": [1]}, {"type": "json", "value": "x" * RESULT_BYTES}
    run.send(message(run, [{"type": "text", "text": "here"}, small, large]), run.finished())
    await world.rest()
    [row] = world.rows(ARTIFACTS)
    _, first, second = world.surface.tries[0].message["content"]
    assert first == small
    assert (second["type"], second["mime_type"], second["artifact_id"]) == (
        "file",
        "application/json",
        row["artifact_id"],
    )
    assert loads(world.objects.content[row["sha256"]].decode()) == large["value"]
