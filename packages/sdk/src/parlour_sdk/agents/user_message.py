"""A user's message in the form for a model: one text with quotes and mentions written out, and the media."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from parlour_sdk.protocol.content import (
    AgentInput,
    ContentElement,
    JsonElement,
    MediaElement,
    MentionElement,
    QuoteElement,
    TextElement,
)
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.messages import Message

from ..values import dataclass
from .speakers import GroupMembers, Speaker
from .template_variables import TemplateVariables

MAX_DATA_CHARACTERS = 4000
"""Characters of an event's data that describe an event without a template."""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message of a user, or the description of another event, before it becomes a message for the model."""

    text: str = ""
    media: tuple[MediaElement, ...] = ()
    speaker: Speaker | None = None
    """The sender in a group; None in a private chat."""
    passages: str = ""
    """Passages of the knowledge bases about the message."""
    facts: str = ""
    """Facts of the moment, such as the date. They are part of the current message only, which keeps the prefix of
    requests stable.
    """

    @classmethod
    def from_event(
        cls, ctx: AgentRunContext, templates: Mapping[str, str] | None = None, members: GroupMembers | None = None
    ) -> "UserMessage":
        """Converts the run's event: messages as they are, other events by the template of their type.

        `members` of a `TranscriptReader` know the names of everyone in the history.
        """
        members = members or GroupMembers(ctx)
        message = cls.from_input(ctx.input, members.of_actor(ctx.actor, ctx.trigger.timestamp), members)
        template = (templates or {}).get(ctx.event.event_type)
        if template is not None:
            return cls(TemplateVariables(ctx).fill(template), message.media)
        if ctx.event.event_type == "message.received" or not message.is_empty:
            return message
        return cls(_describe(ctx))

    @classmethod
    def from_input(
        cls, agent_input: AgentInput, speaker: Speaker | None = None, members: GroupMembers | None = None
    ) -> "UserMessage":
        """Converts an input; attachments that its elements don't name become media too."""
        if not agent_input.contents and not agent_input.attachments:
            return cls(agent_input.text or "", speaker=speaker)
        message = cls.from_contents(agent_input.contents, speaker, members)
        if agent_input.text and not any(isinstance(each, TextElement) for each in agent_input.contents):
            message = replace(message, text="\n".join(part for part in (message.text, agent_input.text) if part))
        artifact_ids = {each.artifact_id for each in message.media}
        files = [
            MediaElement(
                type="image" if (each.mime_type or "").startswith("image/") else "file",
                name=each.name,
                mime_type=each.mime_type,
                size_bytes=each.size_bytes,
                artifact_id=each.artifact_id,
            )
            for each in agent_input.attachments
            if each.artifact_id not in artifact_ids
        ]
        return replace(message, media=(*message.media, *files))

    @classmethod
    def from_contents(
        cls, contents: Iterable[ContentElement], speaker: Speaker | None = None, members: GroupMembers | None = None
    ) -> "UserMessage":
        """Converts elements: text, mentions and quotes become one text, and the media are kept.

        `members` adds the names that belong to ids.
        """
        texts: list[str] = []
        media: list[MediaElement] = []
        names_bot = False
        for each in contents:
            element = members.named(each) if members is not None else each
            if element is None:
                names_bot = True
            match element:
                case TextElement():
                    texts.append(element.text)
                case MediaElement():
                    media.append(element)
                case MentionElement():
                    texts.append(f"@{'everyone' if element.everyone else element.name or element.user_id} ")
                case JsonElement():
                    texts += [*(["\n"] if texts else []), json.dumps(element.value, ensure_ascii=False)]
                case QuoteElement():
                    quoted = cls.from_contents(element.contents, members=members)
                    texts.append(_quote(element.name or element.sender, quoted.text))
                    media += quoted.media
        text = "".join(texts)
        return cls(text.strip() if names_bot else text, tuple(media), speaker)

    @property
    def is_empty(self) -> bool:
        """True if there is neither text nor media to answer."""
        return not self.text.strip() and not self.media

    def to_message(self) -> Message:
        """Returns the message for the model; sender and passages are part of its text."""
        labelled_text = self.speaker.label(self.text) if self.speaker else self.text
        text = "\n\n".join(part for part in (self.passages, self.facts, labelled_text) if part)
        if not self.media:
            return Message(role="user", content=text)
        elements: list[ContentElement] = [TextElement(text=text)] if text else []
        return Message(role="user", content=[*elements, *self.media])


def _describe(ctx: AgentRunContext) -> str:
    """Describes an event that has no template."""
    data = json.dumps(ctx.event.data, ensure_ascii=False, default=str)[:MAX_DATA_CHARACTERS]
    actor_text = f" by {ctx.actor.actor_name or ctx.actor.actor_id}" if ctx.actor else ""
    return f"This happened{actor_text}: {ctx.event.event_type}\n{data}"


def _quote(sender: str | None, text: str) -> str:
    lines = "\n".join(f"> {line}" for line in text.splitlines())
    head = f"> {sender} wrote:\n" if sender else ""
    return f"{head}{lines}\n\n" if head or lines else ""
