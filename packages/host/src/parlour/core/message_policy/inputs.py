"""Prepares what an agent reads of a message: without the prefix that woke it, and with masked words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from parlour.core.model.event import TEXT_REF, EventEnvelope, RecordedEvent

from .filters import NO_VERDICTS, FilteredContent, TextFilters, Verdicts
from .wake import waking_prefix

if TYPE_CHECKING:
    from .schema import MessagePolicy


def filter_input(
    policy: "MessagePolicy", event: EventEnvelope, filters: TextFilters, verdicts: Verdicts = NO_VERDICTS
) -> FilteredContent:
    """Applies the input filters to a message."""
    text, contents = event.input.get("text"), event.input.get("contents") or []
    return filters.apply(policy.filters.input, text, contents, verdicts)


def prepare_input(policy: "MessagePolicy", event: EventEnvelope, filtered: FilteredContent) -> EventEnvelope:
    """Returns the message as the agent reads it, after `filter_input`."""
    text, contents = filtered.text, list(filtered.contents)
    if policy.context.quote == "ignore":
        contents = [each for each in contents if each.get("type") != "quote"]
    if prefix := waking_prefix(policy, event):
        text, contents = _without_prefix(prefix, text, contents)
    if policy.context.sender_names and event.data.get("chat_type") == "group":
        text, contents = _with_name(event, text, contents)
    agent_input = dict(event.input)
    agent_input |= {"text": text} if "text" in agent_input else {}
    agent_input |= {"contents": contents} if "contents" in agent_input else {}
    if agent_input == event.input:
        return event
    if not filtered.hits:
        return replace(event, input=agent_input)
    return without_original(replace(event, input=agent_input))


def without_original(event: EventEnvelope) -> EventEnvelope:
    """Returns a changed message without what still has its text as it was written: the chain of the platform, and the
    file of a long text.
    """
    data = {name: value for name, value in event.data.items() if name != "message_chain"}
    metadata = {name: value for name, value in event.metadata.items() if name != TEXT_REF}
    return replace(event, data=data, metadata=metadata)


def join_inputs(first: EventEnvelope, others: Sequence[RecordedEvent], with_names: bool) -> EventEnvelope:
    """Returns the first message with the texts, elements and files of the messages that were collected with it."""
    messages = [first, *(other.envelope for other in others)]
    if with_names:
        messages = [_named(message) for message in messages]
    inputs = [message.input for message in messages]
    joined: dict[str, Any] = dict(inputs[0])
    joined["text"] = "\n".join(message.text for message in messages)
    if any(each.get("contents") for each in inputs):
        joined["contents"] = [element for message in messages for element in _elements(message)]
    if any(each.get("attachments") for each in inputs):
        joined["attachments"] = [ref for each in inputs for ref in each.get("attachments") or ()]
    return replace(first, input=joined)


def _elements(message: EventEnvelope) -> Sequence[Any]:
    return message.input.get("contents") or [{"type": "text", "text": message.text}]


def _named(message: EventEnvelope) -> EventEnvelope:
    text, contents = _with_name(message, message.input.get("text"), list(message.input.get("contents") or []))
    named = {**message.input, **({"text": text} if text is not None else {})}
    return replace(message, input={**named, **({"contents": contents} if contents else {})})


def _with_name(event: EventEnvelope, text: str | None, contents: list[Any]) -> tuple[str | None, list[Any]]:
    name = f"{event.actor.name or event.actor.id}: " if event.actor.name or event.actor.id else ""
    return (name + text if text is not None else None), _change_first_text(contents, lambda each: name + each)


def _without_prefix(prefix: str, text: str | None, contents: list[Any]) -> tuple[str | None, list[Any]]:
    def cut(value: str) -> str:
        stripped = value.lstrip()
        return stripped[len(prefix) :].lstrip() if stripped.startswith(prefix) else value

    return (cut(text) if text is not None else None), _change_first_text(contents, cut)


def _change_first_text(contents: list[Any], change: Any) -> list[Any]:
    for position, element in enumerate(contents):
        if element.get("type") == "text":
            return [*contents[:position], {**element, "text": change(element["text"])}, *contents[position + 1 :]]
    return contents
