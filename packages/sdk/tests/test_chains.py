"""Tests builders of message chains: they produce components of the protocol, in order."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from parlour_sdk import chains
from parlour_sdk.chains import at, at_all, chain, face, file, forward, image, node, platform, quote, video, voice
from parlour_sdk.protocol.chain import MessageChain, Plain, chain_text

ADAPTER: TypeAdapter[MessageChain] = TypeAdapter(MessageChain)
BUILT: dict[str, tuple[Any, dict[str, Any]]] = {
    "text": ("hi", {"type": "Plain", "text": "hi"}),
    "at": (at("42", "Ada"), {"type": "At", "target": "42", "display": "Ada"}),
    "at all": (at_all(), {"type": "AtAll"}),
    "image": (image(url="https://example.org/a.png"), {"type": "Image", "url": "https://example.org/a.png"}),
    "image by bytes": (
        image(content=b"abc", name="a.png", mime_type="image/png"),
        {"type": "Image", "base64": "YWJj", "size": 3, "name": "a.png", "mime_type": "image/png"},
    ),
    "voice": (voice(artifact_id="a-1", duration=1.5), {"type": "Voice", "artifact_id": "a-1", "duration": 1.5}),
    "video": (video(path="/tmp/a.mp4"), {"type": "Video", "path": "/tmp/a.mp4"}),
    "file": (file(base64="YWJj", name="a.txt"), {"type": "File", "base64": "YWJj", "name": "a.txt"}),
    "quote": (
        quote("m-1", "what ", at("42"), sender="u-1"),
        {
            "type": "Quote",
            "id": "m-1",
            "sender": "u-1",
            "origin": [{"type": "Plain", "text": "what "}, {"type": "At", "target": "42"}],
        },
    ),
    "face": (face("14", "smile"), {"type": "Face", "id": "14", "name": "smile"}),
    "forward": (
        forward(node("Hi", name="Ada", time=5), node(at("1"), sender="u-2")),
        {
            "type": "Forward",
            "nodes": [
                {"name": "Ada", "time": 5, "chain": [{"type": "Plain", "text": "Hi"}]},
                {"sender": "u-2", "chain": [{"type": "At", "target": "1"}]},
            ],
        },
    ),
    "platform": (
        platform("telegram", "dice", emoji="🎲"),
        {"type": "Platform", "platform": "telegram", "component_type": "dice", "data": {"emoji": "🎲"}},
    ),
}


@pytest.mark.parametrize("name", BUILT)
def test_builders_produce_components_of_the_protocol(name: str) -> None:
    part, expected = BUILT[name]
    made = chain(part)
    dumped = ADAPTER.dump_python(made, mode="json", exclude_none=True)
    assert dumped == [expected]
    assert ADAPTER.validate_python(dumped) == made


def test_a_chain_keeps_the_order_and_flattens_other_chains() -> None:
    made = chain("a", ["b", at("1"), ("c",)], chain("d"), Plain(text="e"))  # type: ignore[list-item]
    assert chain_text(made) == "abcde"
    assert [part.type for part in made] == ["Plain", "Plain", "At", "Plain", "Plain", "Plain"]
    assert chain() == []


@pytest.mark.parametrize("part", [5, None, b"bytes", {"type": "Plain", "text": "x"}, node("x")])
def test_a_value_that_is_not_a_component_is_refused_with_its_type(part: Any) -> None:
    with pytest.raises(TypeError, match=f"not of a {type(part).__name__}"):
        chain(part)


@pytest.mark.parametrize("source", [{}, {"url": "u", "path": "p"}, {"content": b"x", "base64": "eA=="}])
def test_media_without_exactly_one_source_are_refused(source: dict[str, Any]) -> None:
    if "content" in source:
        with pytest.raises(ValueError, match="give the content or its base64"):
            image(**source)
    else:
        with pytest.raises(ValidationError, match="give exactly one of"):
            image(**source)


def test_the_package_exports_every_builder() -> None:
    import parlour_sdk

    for name in parlour_sdk.LAZY_EXPORTS[".chains"]:
        assert getattr(parlour_sdk, name) is (chains if name == "chains" else getattr(chains, name))
