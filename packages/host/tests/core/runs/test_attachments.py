"""Files that a run creates are part of its next message in the ledger, the transcript and the outbox."""

import base64
from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.store.artifact_service import ArtifactLimits
from parlour.core.store.tables import ARTIFACTS, RUN_EVENTS, RUNS, TRANSCRIPT
from parlour_sdk.protocol.limits import ARTIFACT_CONTENT_BYTES, MESSAGE_TEXT_BYTES, RESULT_BYTES, TRANSCRIPT_TEXT_BYTES

from ..support import DISCOVERY, PuppetRun, World, until

PNG = b"\x89PNG\r\n\x1a\n rest"
WITH_ARTIFACTS: dict[str, Any] = {
    **DISCOVERY,
    "manifest": {**DISCOVERY["manifest"], "permissions": {"artifacts": ["metadata", "read", "create"]}},  # type: ignore[dict-item]
}


def encode(content: bytes) -> str:
    return base64.b64encode(content).decode()


async def active(chat: str = "chat", world: World | None = None, **ports: Any) -> tuple[World, PuppetRun]:
    world = world or await World.open(discovery=WITH_ARTIFACTS, **ports)
    await world.say("hi", surface="platform", chat=chat)
    return world, await world.plugins.next_run()


def created_result(run: PuppetRun, content: bytes | None = PNG, **data: Any) -> dict[str, Any]:
    inline = {} if content is None else {"content_base64": encode(content)}
    return run.result("artifact.created", {"artifact_type": "image", **inline, **data})


def message(run: PuppetRun, content: Any = "here", **fields: Any) -> dict[str, Any]:
    return run.result("message.completed", {"message": {"role": "assistant", "content": content, **fields}})


async def make(world: World, run: PuppetRun, content: bytes = b"made") -> str:
    answer = await world.call(run, "artifact_create", artifact_type="file", content_base64=encode(content))
    return str(answer["artifact"]["artifact_id"])


def sent_digests(world: World) -> list[list[str]]:
    """Returns the digests of the files of each sent message."""
    return [[ref["sha256"] for ref in each.message.get("artifact_refs", [])] for each in world.surface.tries]


def kinds(world: World, run: PuppetRun) -> list[str]:
    return [kind for kind, _ in world.facts(run.run_id)]


async def test_file_is_attached_to_the_next_message_only() -> None:
    world, run = await active()
    run.send(created_result(run, name="cat.png"), message(run, "one"), message(run, "two"), run.finished())
    await world.rest()
    [row] = world.rows(ARTIFACTS)
    assert sent_digests(world) == [[row["sha256"]], []]
    items = [loads(item["artifact_refs"]) for item in world.rows(TRANSCRIPT) if item["role"] == "assistant"]
    facts = {fact["type"]: loads(fact["artifact_refs"]) for fact in world.rows(RUN_EVENTS)}
    assert [ref["artifact_id"] for ref in items[0]] == [row["artifact_id"]]
    assert items[1] == facts["run.completed"] == []
    assert facts["artifact.created"][0]["name"] == "cat.png"
    assert world.objects.content[row["sha256"]] == PNG
    assert (row["run_id"], row["source"], row["mime_type"]) == (run.run_id, "runner", "image/png")


async def test_ledger_has_the_file_without_its_content() -> None:
    world, run = await active()
    run.send(created_result(run), message(run), run.finished())
    await world.rest()
    assert kinds(world, run) == ["artifact.created", "message.completed", "run.completed"]
    assert all(encode(PNG) not in fact["data"] for fact in world.rows(RUN_EVENTS))


async def test_attached_and_created_files_are_merged_without_duplicates() -> None:
    world, run = await active()
    made = await make(world, run)
    ref = {"artifact_id": made, "artifact_type": "lie", "name": "lie", "sha256": "lie"}
    run.send(
        created_result(run),
        created_result(run, None, artifact_id=made),
        message(run, artifact_refs=[ref, ref]),
        run.finished(),
    )
    await world.rest()
    digests = {row["artifact_id"]: row["sha256"] for row in world.rows(ARTIFACTS)}
    [image] = [digest for artifact_id, digest in digests.items() if artifact_id != made]
    assert sent_digests(world) == [[image, digests[made]]]


async def test_created_file_counts_as_effect() -> None:
    world, run = await active()
    run.send(created_result(run), message(run), run.finished())
    await world.rest()
    assert world.rows(RUNS)[0]["effects"] == 1


@pytest.mark.parametrize(
    "data",
    [
        {"content_base64": encode(b"x" * (ARTIFACT_CONTENT_BYTES + 1))},
        {"content_base64": "no base64!"},
        {"content_base64": encode(b"x"), "sha256": "0" * 64},
        {"content_base64": encode(b"x"), "metadata": {"long": "x" * 300_000}},
        {"artifact_id": "foreign"},
        {"artifact_id": "mine", "content_base64": encode(b"x")},
        {},
    ],
    ids=["too large", "not base64", "wrong digest", "too much metadata", "unknown", "both", "neither"],
)
async def test_invalid_file_is_dropped_and_the_run_continues(data: dict[str, Any]) -> None:
    world, run = await active()
    run.send(run.result("artifact.created", {"artifact_type": "file", **data}), message(run), run.finished())
    await world.rest()
    assert kinds(world, run) == ["message.completed", "run.completed"]
    assert sent_digests(world) == [[]]
    assert world.rows(ARTIFACTS) == []


async def test_the_limit_of_inline_content_is_named_in_the_warning(caplog: pytest.LogCaptureFixture) -> None:
    world, run = await active()
    run.send(
        created_result(run, b"x" * ARTIFACT_CONTENT_BYTES), created_result(run, b"x" * (ARTIFACT_CONTENT_BYTES + 1))
    )
    run.answer("done")
    await world.rest()
    assert f"limit of {ARTIFACT_CONTENT_BYTES} bytes" in caplog.text
    assert len(world.rows(ARTIFACTS)) == 1


async def test_file_of_another_conversation_cannot_be_shown() -> None:
    world, other = await active("other")
    secret = await make(world, other, b"secret")
    _, run = await active("mine", world)
    image = {"type": "image", "artifact_id": secret}
    ref = {"artifact_id": secret, "artifact_type": "file"}
    run.send(created_result(run, None, artifact_id=secret))
    run.send(message(run, [{"type": "text", "text": "here"}, image], artifact_refs=[ref]), run.finished())
    await until(lambda: world.rows(RUNS, run_id=run.run_id)[0]["status"] == "completed")
    [shown] = [each for each in world.surface.tries if each.run_id == run.run_id]
    assert secret not in str(shown.message)
    assert shown.message["content"] == [{"type": "text", "text": "here"}]
    assert all(secret not in fact["data"] + fact["artifact_refs"] for fact in world.rows(RUN_EVENTS, run_id=run.run_id))


async def test_inline_content_becomes_a_reference() -> None:
    world, run = await active()
    picture = {"type": "image", "name": "cat", "content_base64": encode(PNG)}
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
    assert "artifact_refs" not in shown.message, "a file in an element is not attached again"


async def test_final_message_is_recorded_without_inline_content() -> None:
    world, run = await active()
    picture = {"type": "image", "content_base64": encode(PNG)}
    last = {"role": "assistant", "content": [picture]}
    run.send(created_result(run, b"text"), run.result("run.completed", {"finish_reason": "stop", "message": last}))
    await world.rest()
    assert len(sent_digests(world)[0]) == 1
    assert all(encode(PNG) not in fact["data"] for fact in world.rows(RUN_EVENTS))
    assert world.rows(RUNS)[0]["status"] == "completed"


async def test_remaining_deltas_keep_their_files() -> None:
    world, run = await active()
    run.send(run.delta("frag"), created_result(run), run.delta("ments"))
    run.end()
    await world.rest()
    assert world.surface.texts == ["fragments"]
    assert len(sent_digests(world)[0]) == 1


async def test_long_message_is_shown_in_part_with_the_whole_as_file() -> None:
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


async def test_message_longer_than_a_transcript_item_is_sent_whole() -> None:
    world, run = await active()
    text = "x" * (TRANSCRIPT_TEXT_BYTES + 1)
    run.send(message(run, text), run.finished())
    await world.rest()
    [item] = [item for item in world.rows(TRANSCRIPT) if item["role"] == "assistant"]
    [ref] = loads(item["artifact_refs"])
    assert world.surface.texts == [text]
    assert sent_digests(world) == [[]]
    assert world.objects.content[ref["sha256"]] == text.encode()


async def test_long_answer_is_shown_though_the_quota_is_exhausted() -> None:
    world, run = await active(sizes=ArtifactLimits(quota_bytes=1024))
    run.send(created_result(run, b"x" * 2000), message(run, "x" * (MESSAGE_TEXT_BYTES + 1)), run.finished())
    await world.rest()
    assert world.surface.texts == ["x" * MESSAGE_TEXT_BYTES]
    assert world.surface.tries[0].message["metadata"] == {"cut": True}
    assert world.rows(ARTIFACTS) == []


async def test_too_large_value_becomes_a_file() -> None:
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
