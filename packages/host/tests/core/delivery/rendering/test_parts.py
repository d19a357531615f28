"""A message is rendered for a platform: text in parts, files as components, mentions of everyone neutralized."""

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
def test_plain_text_is_rendered_unchanged(text: str, limit: int) -> None:
    if text.lstrip().startswith("<think>"):
        return
    parts = render({"content": text}, manifest(limit))
    blank = "".join(text.split())
    assert "".join("".join(part.text for part in parts).split()) == blank
    if len(text) <= limit - len(DEFAULT_REPEAT_NOTE):  # leaves room for the repeat note
        assert [shown(part) for part in parts] == [text]


def test_rendered_chains_are_valid_in_the_protocol() -> None:
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


def test_json_value_is_its_own_code_block() -> None:
    value = {"type": "json", "value": {"a": 1}}
    [alone] = render({"content": [value]}, manifest())
    [below] = render({"content": [{"type": "text", "text": "Look:"}, value]}, manifest())
    assert [shown(alone), shown(below)] == ['```json\n{"a":1}\n```\n', 'Look:\n```json\n{"a":1}\n```\n']


def test_components_keep_their_order() -> None:
    content = [{"type": "text", "text": "one"}, {"type": "image", "artifact_id": "a"}, {"type": "text", "text": "two"}]
    [part] = render({"content": content}, manifest())
    assert [component.get("text") or component["artifact_id"] for component in part.chain] == ["one", "a", "two"]


def test_text_after_a_picture_starts_a_new_message_if_it_does_not_fit() -> None:
    content = [
        {"type": "text", "text": "a" * 60},
        {"type": "image", "artifact_id": "a"},
        {"type": "text", "text": "b" * 60},
    ]
    assert kinds(render({"content": content}, manifest(100))) == [["Plain", "Image"], ["Plain"]]


@pytest.mark.parametrize("text", ["@everyone look", "hey @Everyone", "@everyone@everyone", "x@here"])
def test_mention_of_everyone_in_text_is_neutralized(text: str) -> None:
    [part] = render({"content": text}, manifest(mentions_everyone="@everyone|@here"))
    assert kinds([part]) == [["Plain"]]
    assert "@everyone" not in shown(part).lower()
    assert "@here" not in shown(part)
    assert shown(part).replace("\u200b", "") == text


def test_mention_of_everyone_in_entities_is_neutralized() -> None:
    [part] = render({"content": "**&#64;everyone**"}, manifest(dialect="html", mentions_everyone="@everyone"))
    assert shown(part) == "<b>@\u200beveryone</b>"


def test_structured_mention_of_everyone_needs_the_policy() -> None:
    message = {"content": [{"type": "mention", "user_id": "", "everyone": True}]}
    assert kinds(render(message, manifest())) == [["Plain"]]
    assert kinds(render(message, manifest(), DeliveryPolicy(mention_everyone=True))) == [["AtAll"]]


def test_thinking_is_hidden_unless_the_policy_shows_it() -> None:
    message = {"content": "<think>hm</think>\n\nYes.", "reasoning": "It is so."}
    assert [shown(part) for part in render(message, manifest())] == ["Yes."]
    [part] = render({**message, "content": "Yes."}, manifest(), DeliveryPolicy(thinking="shown"))
    assert shown(part) == "> It is so.\n\nYes."


def test_thinking_is_hidden_after_a_quote() -> None:
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
def test_display_names_of_mentions_count_towards_the_limit(content: list[Any], unit: str) -> None:
    for part in render({"content": content}, manifest(120, unit)):
        written = "".join(
            each.get("text") or f"@{each.get('display') or each['target']}" for each in text_components(part)
        )
        assert all(MEASURES[unit](written + mark) <= 120 for mark in REPEAT_NOTES)  # type: ignore[index]


def text_components(part: MessagePart) -> list[dict[str, Any]]:
    return [each for each in part.chain if each["type"] in ("Plain", "At")]


def test_first_message_quotes_the_answered_one() -> None:
    parts = render({"content": "word " * 60}, manifest(100), quote="42")
    assert parts[0].chain[0] == {"type": "Quote", "id": "42"}
    assert all(part.chain[0]["type"] == "Plain" for part in parts[1:])


def test_policy_lowers_the_message_size() -> None:
    parts = render({"content": "word " * 100}, manifest(4000), DeliveryPolicy(max_message_size=100))
    assert len(parts) > 4
    assert all(len(shown(part)) <= 100 for part in parts)


@pytest.mark.parametrize("size", [1, 20, 21])
def test_tiny_message_size_loses_no_text(size: int) -> None:
    parts = render({"content": "hello, this is a text"}, manifest(), DeliveryPolicy(max_message_size=size))
    assert "".join(part.text for part in parts).replace(" ", "") == "hello,thisisatext"


def test_unsupported_component_becomes_a_text_note() -> None:
    parts = render({"content": "Here:", "artifact_refs": [PICTURE, PAPER]}, manifest(send=["Plain"]))
    assert [shown(part) for part in parts] == [
        "Here:\n[cat.png can't be shown here]\n\n[paper.pdf can't be shown here]\n"
    ]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "/etc/passwd", "ftp://example.org/cat.png", "data:image/png,x"])
def test_file_without_web_address_becomes_a_note_without_its_path(url: str) -> None:
    [part] = render({"content": [{"type": "image", "url": url, "name": "cat.png"}]}, manifest())
    assert (kinds([part]), shown(part)) == ([["Plain"]], "[cat.png can't be shown here]\n")


def test_picture_is_sent_as_file_if_images_are_unsupported() -> None:
    assert kinds(render({"content": "", "artifact_refs": [PICTURE]}, manifest(send=["Plain", "File"]))) == [["File"]]


def test_too_large_file_becomes_a_text_note() -> None:
    large = {**PAPER, "size_bytes": 2000}
    [part] = render({"content": "", "artifact_refs": [large]}, manifest(limits={"file_bytes": 1000}))
    assert shown(part) == "[paper.pdf is too large to be sent here]\n"


def test_empty_message_renders_no_parts() -> None:
    assert render({"content": " \n "}, manifest()) == []
    assert render({"content": [], "reasoning": "hm"}, manifest(), quote="1") == []


FORWARDING = DeliveryPolicy(forward_over=20)


def test_long_text_is_one_forward_with_its_pieces_and_files_follow() -> None:
    text = "A sentence of words. " * 20
    parts = render({"content": text, "artifact_refs": [PAPER]}, manifest(100), FORWARDING, quote="99")
    assert kinds(parts) == [["Forward"], ["File"]]
    CHAIN.validate_python(parts[0].chain)
    nodes = parts[0].chain[0]["nodes"]
    assert [each["type"] for node in nodes for each in node["chain"]] == ["Plain"] * len(nodes)
    assert "".join(node["chain"][0]["text"] for node in nodes).split() == text.split()
    assert kinds(render({"content": "short"}, manifest(100), FORWARDING)) == [["Plain"]]


def test_sender_is_mentioned_before_a_forward() -> None:
    parts = render({"content": "A sentence of words." * 3}, manifest(), FORWARDING, quote="99", mention="7")
    assert kinds(parts) == [["Quote", "At"], ["Forward"]]
