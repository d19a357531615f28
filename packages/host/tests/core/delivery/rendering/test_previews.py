"""A text that is too long for the chat is rendered as a preview and a file."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.core.delivery.rendering.parts import MessagePart, render
from parlour.core.model.delivery_policy import DeliveryPolicy

from .manifests import manifest

FILE = {"artifact_id": "whole", "artifact_type": "text", "mime_type": "text/plain", "name": "message.txt"}
PREVIEW_NOTE = "[This is only the beginning. All of it is in message.txt.]"
PARAGRAPH = "Some words of it, and more.\n\n"


def cut(content: Any, **fields: Any) -> dict[str, Any]:
    return {"content": content, "metadata": {"cut": True, "whole": "whole"}, "artifact_refs": [FILE], **fields}


def texts(parts: list[MessagePart]) -> list[str]:
    return [component["text"] for part in parts for component in part.chain if component["type"] == "Plain"]


def kinds(parts: list[MessagePart]) -> list[list[str]]:
    return [[component["type"] for component in part.chain] for part in parts]


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(["word ", PARAGRAPH, "```py\nx = 1\n```\n", "**bold** ", "中文。", "x"]),
    st.integers(160, 5000),
    st.sampled_from(["characters", "utf16", "bytes"]),
    st.sampled_from(["plain", "html"]),
)
def test_cut_text_is_one_message_and_its_file(words: str, limit: int, unit: str, dialect: str) -> None:
    parts = render(cut(words * 20_000), manifest(limit, unit, dialect=dialect))
    assert kinds(parts) == [["Plain"], ["File"]]
    [shown] = texts(parts)
    assert shown.endswith(PREVIEW_NOTE)
    assert len(shown) <= limit


@pytest.mark.parametrize("limit", [64, 80, 100])
def test_cut_text_needs_few_messages_if_they_are_small(limit: int) -> None:
    parts = render(cut("word " * 20_000), manifest(limit))
    assert kinds(parts)[-1] == ["File"]
    assert len(texts(parts)) <= 3
    assert "".join(texts(parts)).endswith(PREVIEW_NOTE)


def test_preview_ends_at_a_paragraph_and_closes_its_code() -> None:
    [shown] = texts(render(cut(PARAGRAPH * 10_000), manifest(400)))
    assert shown == f"{(PARAGRAPH * 11).rstrip()}\n\n{PREVIEW_NOTE}"
    [shown] = texts(render(cut("```py\n" + "x = 1\n" * 50_000), manifest(400)))
    assert shown.endswith(f"x = 1\n```\n\n{PREVIEW_NOTE}")


def test_other_components_of_a_cut_message_are_shown() -> None:
    picture = {"type": "image", "url": "https://example.org/a"}
    parts = render(cut([{"type": "text", "text": "word " * 60_000}, picture]), manifest())
    assert kinds(parts) == [["Plain", "Image"], ["File"]]


def test_thinking_is_not_part_of_the_preview() -> None:
    long = "<think>" + "hm " * 50_000
    assert texts(render(cut(f"{long}</think>Yes."), manifest())) == [f"Yes.\n\n{PREVIEW_NOTE}"]
    assert texts(render(cut(long), manifest())) == [PREVIEW_NOTE]
    parts = render(cut("word " * 60_000, reasoning="It is so."), manifest(), DeliveryPolicy(thinking="shown"))
    assert texts(parts)[0].startswith("> It is so.")
    assert len(texts(parts)) <= 2


def test_preview_notes_that_files_cannot_be_sent() -> None:
    shown = "".join(texts(render(cut("word " * 60_000), manifest(send=["Plain"]))))
    assert shown.endswith(f"{PREVIEW_NOTE}\n[message.txt can't be shown here]\n")
    assert len(shown) < 4100


@pytest.mark.parametrize("metadata", [None, {"cut": True}, {"whole": "another"}, {"whole": ["whole"]}])
def test_text_without_its_file_is_shown_whole(metadata: Any) -> None:
    text = "word " * 10_000
    parts = render({"content": text, "metadata": metadata, "artifact_refs": [FILE]}, manifest())
    assert "".join(texts(parts)) == text
