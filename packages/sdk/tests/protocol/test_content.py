"""Tests content elements and chains: unions by type, media with exactly one source, and their plain text."""

from itertools import product
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from parlour_sdk.protocol.chain import Component, chain_text
from parlour_sdk.protocol.content import (
    AgentInput,
    ContentElement,
    JsonElement,
    MediaElement,
    MentionElement,
    QuoteElement,
    TextElement,
    plain_text,
)

ELEMENT: TypeAdapter[Any] = TypeAdapter(ContentElement)
CHAIN: TypeAdapter[Any] = TypeAdapter(list[Component])
SOURCES = {"url": "https://example.org/x", "content_base64": "eA==", "artifact_id": "artifact"}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"type": "text", "text": "a"}, TextElement),
        *[({"type": media, "url": "u"}, MediaElement) for media in ("image", "audio", "video", "file")],
        ({"type": "json", "value": None}, JsonElement),
        ({"type": "quote"}, QuoteElement),
        ({"type": "mention", "user_id": "u"}, MentionElement),
    ],
    ids=lambda value: value.get("type") if isinstance(value, dict) else "",
)
def test_an_element_has_the_class_of_its_type(data: dict[str, Any], kind: type) -> None:
    assert isinstance(ELEMENT.validate_python(data), kind)


@pytest.mark.parametrize("data", [{"text": "a"}, {}, "a", None, []])
def test_an_element_without_a_type_is_refused(data: Any) -> None:
    with pytest.raises(ValidationError):
        ELEMENT.validate_python(data)


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValidationError, match=r"'hologram'.*'text', 'image', 'audio', 'video', 'file', 'json'"):
        ELEMENT.validate_python({"type": "hologram"})
    with pytest.raises(ValidationError, match=r"'Hologram'.*'Source', 'Plain', 'At', 'AtAll', 'Image', 'Voice'"):
        CHAIN.validate_python([{"type": "Hologram"}])


@pytest.mark.parametrize("chosen", list(product([False, True], repeat=3)))
def test_media_has_exactly_one_source(chosen: tuple[bool, ...]) -> None:
    given = {name: value for (name, value), is_in in zip(SOURCES.items(), chosen, strict=True) if is_in}
    if sum(chosen) == 1:
        assert MediaElement(type="image", **given).model_dump(exclude_none=True) == {"type": "image", **given}
    else:
        with pytest.raises(ValidationError, match="exactly one of url, content_base64 and artifact_id"):
            MediaElement(type="image", **given)


def test_a_quote_may_contain_a_quote() -> None:
    inner = {"type": "quote", "contents": [{"type": "text", "text": "deep"}]}
    outer = ELEMENT.validate_python({"type": "quote", "contents": [inner]})
    assert outer.contents[0].contents[0].text == "deep"


def test_an_invalid_element_in_a_quote_is_refused() -> None:
    with pytest.raises(ValidationError):
        ELEMENT.validate_python({"type": "quote", "contents": [{"type": "image"}]})


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("", ""),
        ("plain", "plain"),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "image", "url": "u"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "quote", "contents": [{"type": "text", "text": "not mine"}]}], ""),
    ],
)
def test_the_plain_text_of_content_is_its_text_elements(content: Any, text: str) -> None:
    parsed = [ELEMENT.validate_python(each) for each in content] if isinstance(content, list) else content
    assert plain_text(parsed) == text


def test_the_plain_text_of_a_chain_leaves_out_quotes_and_mentions() -> None:
    chain = CHAIN.validate_python(
        [
            {"type": "Plain", "text": "a"},
            {"type": "At", "target": "u"},
            {"type": "Quote", "origin": [{"type": "Plain", "text": "not mine"}]},
            {"type": "Plain", "text": "b"},
        ]
    )
    assert chain_text(chain) == "ab"
    assert chain_text([]) == ""


def test_an_input_may_be_empty() -> None:
    assert AgentInput.model_validate({}) == AgentInput(text=None, contents=[], attachments=[])


@pytest.mark.parametrize("broken", [0, {}, {"type": "nothing"}])
def test_only_the_first_of_many_invalid_elements_is_reported(broken: Any) -> None:
    with pytest.raises(ValidationError) as failure:
        AgentInput.model_validate({"contents": [{"type": "text", "text": "fine"}, *[broken] * 100]})

    [problem] = failure.value.errors()
    assert problem["loc"][:2] == ("contents", 1)
