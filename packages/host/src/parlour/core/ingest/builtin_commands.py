"""The built-in chat commands `/new` and `/stop`, for chats that an agent serves. Any other text with a slash is a
message.
"""

from parlour.core.model.command import CHAT_SURFACES, ChatCommand, CommandResult
from parlour.core.model.command_rules import CommandRules
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ports import Clock, Ids
from parlour.core.routing.decisions import ToAgent
from parlour.core.routing.router import Router
from parlour.core.runs.control import RunControl
from parlour.core.runs.session import RunTermination
from parlour.core.store.conversations import Conversations
from parlour.core.texts.languages import Languages

STOPPED_BY_USER = RunTermination("cancelled", "cancelled", "a person stopped the run")


class BuiltinCommands:
    """Recognizes and executes the built-in chat commands."""

    def __init__(
        self,
        router: Router,
        rules: CommandRules,
        conversations: Conversations,
        control: RunControl,
        languages: Languages,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._router = router
        self._rules = rules
        self._conversations = conversations
        self._control = control
        self._languages = languages
        self._ids = ids
        self._clock = clock

    def recognize(self, event: EventEnvelope) -> ChatCommand | None:
        if (
            event.surface not in CHAT_SURFACES
            or event.event_type != "message.received"
            or event.run_request is not None
        ):
            return None
        name, arguments = self._rules.parse(event.text)
        if name not in ("new", "stop") or arguments or event.input.get("attachments"):
            return None
        return ChatCommand(f"/{name}") if isinstance(self._router.decide(event), ToAgent) else None

    async def execute(self, control_input: ChatCommand, event: RecordedEvent) -> CommandResult:
        if (refusal := self._rules.refusal(control_input.name.removeprefix("/"), event.envelope)) is not None:
            return CommandResult(refusal[0], self._languages.text(event, refusal[1]))
        return await (self._start_new_conversation(event) if control_input.name == "/new" else self._stop(event))

    async def _start_new_conversation(self, event: RecordedEvent) -> CommandResult:
        """Moves the chat to a new conversation. Runs of the previous one end there. A repeated event has no further
        effect.
        """
        key = event.envelope.conversation_key
        latest = await self._conversations.find(key)
        if latest is None or latest == event.conversation_id:
            latest = await self._conversations.start_new(key, self._ids, self._clock)
        return CommandResult(
            f"the chat went on in conversation {latest}", self._languages.text(event, "command.new"), latest
        )

    async def _stop(self, event: RecordedEvent) -> CommandResult:
        session = self._control.find_active(event.conversation_id)
        if session is None:
            return CommandResult("nothing was going on", self._languages.text(event, "command.idle"))
        run_actor, sender = session.event.envelope.actor, event.envelope.actor
        if (run_actor.type, run_actor.id) != (sender.type, sender.id):
            return CommandResult(
                f"run {session.run_id} is somebody else's", self._languages.text(event, "command.other")
            )
        await self._control.cancel(session.run_id, STOPPED_BY_USER)
        return CommandResult(f"run {session.run_id} was ended", self._languages.text(event, "command.stopped"))
