"""Previews: messages that an administrator writes to a bot or a pipeline as if on its platform.

The event itself belongs to the administrator: its sender has the type `preview`, and its workspace is one of its own,
so that state, storage, memory and files of real chats are out of reach. The person, the role and the chat that were
chosen are seen by rules only.
"""

from dataclasses import replace

from parlour_sdk.values import dataclass

from .chats import PLATFORM_SURFACE, chat_key
from .event import EventEnvelope, Participant
from .ids import BotId, PipelineId

PREVIEW = "preview"
"""Source and surface of previews, the type of their senders, and the key in their metadata."""


@dataclass(frozen=True, slots=True)
class PreviewScene:
    """Where and by whom a message of a preview is said to be written."""

    chat_type: str
    chat_id: str
    mentions_bot: bool = False
    person_id: str = ""
    person_name: str = ""
    role: str = ""
    bot_id: BotId = BotId("")
    platform: str = ""
    """Adapter of the bot."""
    pipeline_id: PipelineId = PipelineId("")
    """The pipeline that is tried in place of the routes of a bot."""

    @property
    def chat(self) -> str:
        """Name of the chat in which the history is kept."""
        target = f"pipeline:{self.pipeline_id}" if self.pipeline_id else f"bot:{self.bot_id}"
        return f"{target}/{self.chat_type}:{self.chat_id}"

    def describe(self) -> dict[str, str | bool]:
        """Returns the fields for the audit and for the metadata of the event."""
        return {
            "chat_type": self.chat_type,
            "chat_id": self.chat_id,
            "mentions_bot": self.mentions_bot,
            "person_id": self.person_id,
            "person_name": self.person_name,
            "role": self.role,
            "bot_id": self.bot_id,
            "platform": self.platform,
            "pipeline_id": self.pipeline_id,
        }


def as_judged(event: EventEnvelope) -> EventEnvelope:
    """Returns the event as rules see it: for a preview, the message that it pretends to be; else the event itself."""
    if not event.is_preview or PREVIEW not in event.metadata:
        return event
    scene = PreviewScene(**event.metadata[PREVIEW])
    chat = chat_key(("group" if scene.chat_type == "group" else "private", scene.chat_id), "")
    role = {"role": scene.role} if scene.role else {}
    return replace(
        event,
        source=scene.platform or event.source,
        surface=PLATFORM_SURFACE,
        bot_id=scene.bot_id,
        chat=chat,
        principal="",
        actor=Participant("user", scene.person_id, scene.person_name, role),
        data={**event.data, "chat_id": scene.chat_id},
        metadata={},
    )


def pipeline_of(event: EventEnvelope) -> PipelineId | None:
    """Returns the pipeline that a preview names; None for every other event."""
    if not event.is_preview or PREVIEW not in event.metadata:
        return None
    return PipelineId(event.metadata[PREVIEW]["pipeline_id"]) or None
