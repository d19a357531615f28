"""Provides Hypothesis strategies for chains, content, contexts and JSON, up to the allowed nesting."""

from typing import Any

from hypothesis import strategies as st

from parlour_sdk.protocol.limits import NESTED_QUOTES

from .entities import ENTITIES, golden

Data = st.SearchStrategy[dict[str, Any]]

text = st.text(max_size=20)
maybe_text = st.none() | text
maybe_number = st.none() | st.integers(0, 2**53)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
json_objects = st.dictionaries(text, json_values, max_size=3)
MEDIA = ("url", "path", "base64", "artifact_id")
ELEMENT_MEDIA = ("url", "content_base64", "artifact_id")


def tagged(kind: str, **fields: Any) -> Data:
    return st.fixed_dictionaries({"type": st.just(kind), **fields})


@st.composite
def media(draw: st.DrawFn, kinds: tuple[str, ...], sources: tuple[str, ...], size: str) -> dict[str, Any]:
    fields = {"name": maybe_text, "mime_type": maybe_text, size: maybe_number}
    drawn = draw(tagged(draw(st.sampled_from(kinds)), **fields))
    return drawn | dict.fromkeys(sources) | {draw(st.sampled_from(sources)): draw(text)}


def elements(depth: int = NESTED_QUOTES) -> Data:
    """Generates content elements with quotes of at most this depth."""
    flat = (
        tagged("text", text=text)
        | tagged("json", value=json_values)
        | tagged("mention", user_id=text, name=maybe_text, everyone=st.booleans())
        | media(("image", "audio", "video", "file"), ELEMENT_MEDIA, "size_bytes")
    )
    if depth == 0:
        return flat
    inner = st.deferred(lambda: elements(depth - 1))
    return flat | tagged("quote", message_id=maybe_text, sender=maybe_text, contents=st.lists(inner, max_size=2))


def components(depth: int = NESTED_QUOTES) -> Data:
    """Generates components of a chain, with quotes and forwards of at most this depth."""
    flat = (
        tagged("Source", id=text, time=maybe_number)
        | tagged("Plain", text=text)
        | tagged("At", target=text, display=maybe_text)
        | tagged("AtAll")
        | tagged("Face", id=text, name=maybe_text)
        | tagged("Unknown", text=text)
        | tagged("Platform", platform=text, component_type=text, data=json_objects, text=maybe_text)
        | media(("Image", "File"), MEDIA, "size")
    )
    if depth == 0:
        return flat
    chain = st.lists(st.deferred(lambda: components(depth - 1)), max_size=2)
    node = st.fixed_dictionaries(
        {"sender": maybe_text, "name": maybe_text, "time": maybe_number, "message_id": maybe_text, "chain": chain}
    )
    quote = tagged("Quote", id=maybe_text, sender=maybe_text, name=maybe_text, origin=chain)
    return flat | quote | tagged("Forward", nodes=st.lists(node, max_size=2))


@st.composite
def contexts(draw: st.DrawFn) -> dict[str, Any]:
    """Generates a context with arbitrary values from users and platforms."""
    context = golden("AgentRunContext")
    context["input"] |= {"text": draw(maybe_text), "contents": draw(st.lists(elements(2), max_size=3))}
    context["event"] |= {"data": draw(json_objects), "event_type": draw(text)}
    context |= {"config": draw(json_objects), "metadata": draw(json_objects)}
    context["state"] = {scope: draw(json_objects) for scope in context["state"]}
    for absent in draw(st.sets(st.sampled_from(["conversation", "actor", "subject", "bootstrap", "adapter"]))):
        context[absent] = None
    return context


@st.composite
def spoiled(draw: st.DrawFn) -> tuple[str, Any]:
    """Generates an entity with an arbitrary value at one place of any depth."""
    name = draw(st.sampled_from(sorted(ENTITIES)))
    return name, _spoil(draw, golden(name))


def _spoil(draw: st.DrawFn, value: Any) -> Any:
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(value)))
        return value | {key: _spoil(draw, value[key])}
    if isinstance(value, list) and value and draw(st.booleans()):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], _spoil(draw, value[place]), *value[place + 1 :]]
    return draw(json_values)
