"""The built-in chat commands `/new` and `/stop`, for chats that an agent serves. Any other text with a slash is a
message.
"""

from parlour.core.model.command import CHATS, Acted, ControlInput
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ports import Clock, Ids
from parlour.core.routing.router import Bound, Router
from parlour.core.runs.control import RunControl
from parlour.core.runs.session import Ending
from parlour.core.store.conversations import Conversations
from parlour.core.texts.languages import Languages

STOPPED = Ending("cancelled", "cancelled", "a person stopped the run")


class Commands:
    """Recognizes and executes the built-in chat commands."""

    def __init__(
        self,
        router: Router,
        conversations: Conversations,
        control: RunControl,
        languages: Languages,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._router = router
        self._conversations = conversations
        self._control = control
        self._languages = languages
        self._ids = ids
        self._clock = clock

    def recognize(self, event: EventEnvelope) -> ControlInput | None:
        if event.surface not in CHATS or event.event_type != "message.received" or event.commission is not None:
            return None
        text = event.text.strip()
        if text not in ("/new", "/stop") or event.input.get("attachments"):
            return None
        return ControlInput(text) if isinstance(self._router.decide(event), Bound) else None

    async def act(self, control_input: ControlInput, event: RecordedEvent) -> Acted:
        return await (self._begin_anew(event) if control_input.name == "/new" else self._stop(event))

    async def _begin_anew(self, event: RecordedEvent) -> Acted:
        """Moves the chat to a new conversation. Runs of the previous one end there. A repeated event has no further
        effect.
        """
        key = event.envelope.conversation
        latest = await self._conversations.find(key)
        if latest is None or latest == event.conversation_id:
            latest = await self._conversations.renew(key, self._ids, self._clock)
        return Acted(f"the chat went on in conversation {latest}", self._languages.text(event, "command.new"), latest)

    async def _stop(self, event: RecordedEvent) -> Acted:
        session = self._control.active(event.conversation_id)
        if session is None:
            return Acted("nothing was going on", self._languages.text(event, "command.idle"))
        theirs, mine = session.event.envelope.actor, event.envelope.actor
        if (theirs.type, theirs.id) != (mine.type, mine.id):
            return Acted(f"run {session.run_id} is somebody else's", self._languages.text(event, "command.other"))
        await self._control.cancel(session.run_id, STOPPED)
        return Acted(f"run {session.run_id} was ended", self._languages.text(event, "command.stopped"))
