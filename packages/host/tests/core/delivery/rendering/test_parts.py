"""A message becomes a platform's messages: text in parts, files as components, and nothing that calls everybody."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from parlour.core.delivery.rendering.parts import MessagePart, render
from parlour.core.delivery.rendering.repeat_notes import DEFAULT_REPEAT_NOTE, REPEAT_NOTES
from parlour.core.delivery.rendering.split import MEASURES
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour_sdk.protocol.chain import MessageChain

from .manifests import manifest

CHAIN: TypeAdapter[Any] = TypeAdapter(MessageChain)
PICTURE = {"artifact_id": "a1", "artifact_type": "image", "mime_type": "image/png", "name": "cat.png", "size_bytes": 10}
PAPER = {"artifact_id": "a2", "artifact_type": "file", "mime_type": "application/pdf", "name": "paper.pdf"}


def kinds(parts: list[MessagePart]) -> list[list[str]]:
    return [[component["type"] for component in part.chain] for part in parts]


def shown(part: MessagePart) -> str:
    return "".join(component.get("text", "") for component in part.chain)


@settings(deadline=None, max_examples=40)
@given(st.text(min_size=1).filter(str.strip), st.integers(64, 200))
def test_plain_text_arrives_as_it_was_written(text: str, limit: int) -> None:
    if text.lstrip().startswith("<think>"):
        return
    parts = render({"content": text}, manifest(limit))
    blank = "".join(text.split())
    assert "".join("".join(part.text for part in parts).split()) == blank
    if len(text) <= limit - len(DEFAULT_REPEAT_NOTE):  # room for the words that a repetition carries
        assert [shown(part) for part in parts] == [text]


def test_chains_are_what_the_protocol_calls_a_chain() -> None:
    content = [
        {"type": "text", "text": "Look: "},
        {"type": "image", "url": "https://example.org/cat.png", "name": "cat.png"},
        {"type": "mention", "user_id": "7", "name": "Ann"},
        {"type": "audio", "artifact_id": "a3", "mime_type": "audio/ogg"},
        {"type": "json", "value": {"a": 1}},
        {"type": "quote", "contents": [{"type": "text", "text": "said"}]},
    ]
    parts = render({"content": content, "artifact_refs": [PICTURE, PAPER]}, manifest(), quote="99")
    for part in parts:
        CHAIN.validate_python(part.chain)
    assert kinds(parts) == [["Quote", "Plain", "Image", "At"], ["Voice"], ["Plain", "Image"], ["File"]]


def test_a_value_is_a_block_of_code_of_its_own() -> None:
    value = {"type": "json", "value": {"a": 1}}
    [alone] = render({"content": [value]}, manifest())
    [below] = render({"content": [{"type": "text", "text": "Look:"}, value]}, manifest())
    assert [shown(alone), shown(below)] == ['```json\n{"a":1}\n```\n', 'Look:\n```json\n{"a":1}\n```\n']


def test_components_keep_their_order() -> None:
    content = [{"type": "text", "text": "one"}, {"type": "image", "artifact_id": "a"}, {"type": "text", "text": "two"}]
    [part] = render({"content": content}, manifest())
    assert [component.get("text") or component["artifact_id"] for component in part.chain] == ["one", "a", "two"]


def test_text_after_a_picture_begins_a_message_when_there_is_no_room() -> None:
    content = [
        {"type": "text", "text": "a" * 60},
        {"type": "image", "artifact_id": "a"},
        {"type": "text", "text": "b" * 60},
    ]
    assert kinds(render({"content": content}, manifest(100))) == [["Plain", "Image"], ["Plain"]]


@pytest.mark.parametrize("text", ["@everyone look", "hey @Everyone", "@everyone@everyone", "x@here"])
def test_a_mention_of_everybody_in_text_calls_nobody(text: str) -> None:
    [part] = render({"content": text}, manifest(mentions_everyone="@everyone|@here"))
    assert kinds([part]) == [["Plain"]]
    assert "@everyone" not in shown(part).lower()
    assert "@here" not in shown(part)
    assert shown(part).replace("\u200b", "") == text


def test_a_mention_of_everybody_that_is_spelled_in_entities_calls_nobody() -> None:
    [part] = render({"content": "**&#64;everyone**"}, manifest(dialect="html", mentions_everyone="@everyone"))
    assert shown(part) == "<b>@\u200beveryone</b>"


def test_a_structured_mention_of_everybody_needs_the_policy() -> None:
    message = {"content": [{"type": "mention", "user_id": "", "everyone": True}]}
    assert kinds(render(message, manifest())) == [["Plain"]]
    assert kinds(render(message, manifest(), DeliveryPolicy(mention_everyone=True))) == [["AtAll"]]


def test_thinking_is_hidden_unless_the_policy_shows_it() -> None:
    message = {"content": "<think>hm</think>\n\nYes.", "reasoning": "It is so."}
    assert [shown(part) for part in render(message, manifest())] == ["Yes."]
    [part] = render({**message, "content": "Yes."}, manifest(), DeliveryPolicy(thinking="shown"))
    assert shown(part) == "> It is so.\n\nYes."


def test_thinking_is_hidden_behind_a_quote_too() -> None:
    message = {"content": [{"type": "text", "text": "<think>hm</think>\n\nYes."}]}
    [part] = render(message, manifest(), quote="42")
    assert part.chain == [{"type": "Quote", "id": "42"}, {"type": "Plain", "text": "Yes."}]


names = st.one_of(st.none(), st.text(min_size=1, max_size=300))
elements = st.one_of(
    st.text(max_size=300).map(lambda text: {"type": "text", "text": text}),
    st.builds(lambda user, name: {"type": "mention", "user_id": user, "name": name}, st.text(min_size=1), names),
    st.just({"type": "image", "artifact_id": "a"}),
)


@settings(deadline=None, max_examples=100)
@given(st.lists(elements), st.sampled_from(["characters", "utf16", "bytes"]))
def test_the_names_of_those_who_are_mentioned_count_as_words(content: list[Any], unit: str) -> None:
    for part in render({"content": content}, manifest(120, unit)):
        written = "".join(each.get("text") or f"@{each.get('display') or each['target']}" for each in worded(part))
        assert all(MEASURES[unit](written + mark) <= 120 for mark in REPEAT_NOTES)  # type: ignore[index]


def worded(part: MessagePart) -> list[dict[str, Any]]:
    return [each for each in part.chain if each["type"] in ("Plain", "At")]


def test_the_first_message_quotes_what_it_answers() -> None:
    parts = render({"content": "word " * 60}, manifest(100), quote="42")
    assert parts[0].chain[0] == {"type": "Quote", "id": "42"}
    assert all(part.chain[0]["type"] == "Plain" for part in parts[1:])


def test_a_policy_lowers_the_size_of_messages() -> None:
    parts = render({"content": "word " * 100}, manifest(4000), DeliveryPolicy(max_message_size=100))
    assert len(parts) > 4
    assert all(len(shown(part)) <= 100 for part in parts)


@pytest.mark.parametrize("size", [1, 20, 21])
def test_a_size_that_holds_next_to_nothing_loses_nothing(size: int) -> None:
    parts = render({"content": "hello, this is a text"}, manifest(), DeliveryPolicy(max_message_size=size))
    assert "".join(part.text for part in parts).replace(" ", "") == "hello,thisisatext"


def test_what_the_platform_has_no_component_for_is_told_in_words() -> None:
    parts = render({"content": "Here:", "artifact_refs": [PICTURE, PAPER]}, manifest(send=["Plain"]))
    assert [shown(part) for part in parts] == [
        "Here:\n[cat.png can't be shown here]\n\n[paper.pdf can't be shown here]\n"
    ]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "/etc/passwd", "ftp://example.org/cat.png", "data:image/png,x"])
def test_a_file_that_is_not_on_the_web_is_told_in_words_without_its_place(url: str) -> None:
    [part] = render({"content": [{"type": "image", "url": url, "name": "cat.png"}]}, manifest())
    assert (kinds([part]), shown(part)) == ([["Plain"]], "[cat.png can't be shown here]\n")


def test_a_picture_goes_as_a_file_where_there_are_files_only() -> None:
    assert kinds(render({"content": "", "artifact_refs": [PICTURE]}, manifest(send=["Plain", "File"]))) == [["File"]]


def test_a_file_that_is_too_large_is_told_in_words() -> None:
    large = {**PAPER, "size_bytes": 2000}
    [part] = render({"content": "", "artifact_refs": [large]}, manifest(limits={"file_bytes": 1000}))
    assert shown(part) == "[paper.pdf is too large to be sent here]\n"


def test_a_message_without_anything_to_show_is_none() -> None:
    assert render({"content": " \n "}, manifest()) == []
    assert render({"content": [], "reasoning": "hm"}, manifest(), quote="1") == []
