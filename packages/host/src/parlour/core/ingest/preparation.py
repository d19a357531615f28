"""Prepares an event before it is routed and stored: a pressed suggestion becomes a message, files become artifacts."""

from dataclasses import replace

from parlour.core.delivery.rendering.suggestions import SUGGESTION_ACTION_ID, pressed_run, pressed_text
from parlour.core.model.chats import PLATFORM_SURFACE
from parlour.core.model.command import ChatCommand, CommandResult
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.store.conversations import Conversations
from parlour.core.store.event_attachments import EventAttachments, PreparedEvent
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.texts.languages import Languages

COMMAND_NAME = "suggestion"
PLACE_FIELDS = ("chat_type", "chat_id", "account")
"""Fields of an event and of an address that must be the same for a press to belong to a message."""


class EventPreparer:
    """Prepares events. What it reads from the database is only read for presses and files."""

    def __init__(self, attachments: EventAttachments, conversations: Conversations, rows: OutboxStore) -> None:
        self._attachments = attachments
        self._conversations = conversations
        self._rows = rows

    async def resolve(self, event: EventEnvelope) -> EventEnvelope:
        """Returns the message that the press of a suggested reply stands for; any other event as it is.

        A suggestion counts only in the chat in which it was shown, so a value that another program or an agent wrote
        can't name the text of another chat.
        """
        run_id = pressed_run(event.data.get("value")) if is_suggestion_press(event) else None
        if run_id is None:
            return event
        rows = await self._rows.shown_by_run(run_id)
        messages = [row.message for row in rows if _is_same_chat(row, event)]
        said = pressed_text(event.data["value"], messages)
        return event if said is None else _as_message(event, said)

    async def store_files(self, event: EventEnvelope) -> PreparedEvent:
        """Stores the files of an event. Raises ProviderFailed with the field that is not accepted."""
        return await self._attachments.store(event, self._conversations)


class OutdatedSuggestions:
    """Answers a press of a suggestion that is no longer known: `EventPreparer` turns all others into messages."""

    def __init__(self, languages: Languages) -> None:
        self._languages = languages

    def recognize(self, event: EventEnvelope) -> ChatCommand | None:
        return ChatCommand(COMMAND_NAME) if is_suggestion_press(event) else None

    async def execute(self, control_input: ChatCommand, event: RecordedEvent) -> CommandResult:
        return CommandResult("the suggestion is no longer known", self._languages.text(event, "suggestions.outdated"))


def is_suggestion_press(event: EventEnvelope) -> bool:
    """Returns whether the event is the press of a suggested reply on a platform."""
    is_press = event.event_type == "interaction.received" and event.surface == PLATFORM_SURFACE
    return is_press and event.data.get("action_id") == SUGGESTION_ACTION_ID


def _is_same_chat(row: OutboxRow, event: EventEnvelope) -> bool:
    place = [row.address.get(field, "") for field in PLACE_FIELDS]
    return row.bot_id == event.bot_id and place == [str(event.data.get(field, "")) for field in PLACE_FIELDS]


def _as_message(event: EventEnvelope, said: str) -> EventEnvelope:
    """Returns the press as if its sender had written the text to the bot. It has no message id: nothing was written."""
    chain = [{"type": "Plain", "text": said}]
    data = {name: value for name, value in event.data.items() if name != "message_id"}
    data |= {"message_chain": chain, "mentions_bot": True}
    return replace(event, event_type="message.received", input={"text": said}, data=data)
