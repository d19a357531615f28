"""The chat command `/memory`: shows what the agent remembers here, and says whether it may remember anything."""

from parlour.core.memory.service import MemoryPlace, MemoryService, place_of
from parlour.core.model.agent import Agent
from parlour.core.model.command import CHAT_SURFACES, ChatCommand, CommandResult
from parlour.core.model.command_rules import CommandRules
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.memory import CHAT_OWNER, MemoryPolicy
from parlour.core.routing.decisions import ToAgent
from parlour.core.routing.router import Router
from parlour.core.store.memories import GRANTED, REFUSED
from parlour.core.texts.languages import Languages

COMMANDS = ("/memory", "/memory on", "/memory off")
MAX_SHOWN = 50
"""Memories that are listed, the newest ones."""
SHOWN_CHARACTERS = 200
DECIDING_ROLES = ("owner", "admin")
"""Roles in a group whose memory belongs to the group."""


class MemoryCommands:
    """Recognizes and executes `/memory` where an agent that may remember things answers."""

    def __init__(self, router: Router, rules: CommandRules, memory: MemoryService, languages: Languages) -> None:
        self._router = router
        self._rules = rules
        self._memory = memory
        self._languages = languages

    def recognize(self, event: EventEnvelope) -> ChatCommand | None:
        is_chat = event.surface in CHAT_SURFACES and event.event_type == "message.received"
        if not is_chat or event.run_request is not None:
            return None
        name, arguments = self._rules.parse(event.text)
        text = " ".join([f"/{name}", *arguments.split()])
        if text not in COMMANDS or event.input.get("attachments") or self._agent(event) is None:
            return None
        return ChatCommand("/memory", text.partition(" ")[2])

    async def execute(self, control_input: ChatCommand, event: RecordedEvent) -> CommandResult:
        envelope = event.envelope
        agent = self._agent(envelope)
        policy = MemoryPolicy.decode(agent.memory_policy) if agent is not None else MemoryPolicy()
        key, actor = envelope.conversation_key, envelope.actor
        place = place_of(agent.agent_id, policy, key, actor) if agent is not None else None
        if place is None:
            return CommandResult("there is no person or chat to remember", self._languages.text(event, "memory.nobody"))
        if not control_input.argument:
            return CommandResult("it was shown what is remembered", await self._listing(event, policy, place))
        is_of_group = place.owner.owner_type == CHAT_OWNER and not place.is_private
        if is_of_group and actor.data.get("role") not in DECIDING_ROLES:
            return CommandResult("only an admin may decide that", self._languages.text(event, "memory.admins"))
        if control_input.argument == "on":
            await self._memory.allow(place.owner)
            return CommandResult("memory was allowed", self._languages.text(event, "memory.on"))
        await self._memory.refuse(place.owner)
        return CommandResult("memory was refused and deleted", self._languages.text(event, "memory.off"))

    async def _listing(self, event: RecordedEvent, policy: MemoryPolicy, place: MemoryPlace) -> str:
        memories = await self._memory.usable(place)
        decision = await self._memory.records.decision(place.owner)
        is_on = decision == GRANTED or (not policy.consent and decision != REFUSED)
        state = self._languages.text(
            event, "memory.state.refused" if decision == REFUSED else f"memory.state.{'on' if is_on else 'off'}"
        )
        if not memories:
            return self._languages.text(event, "memory.none", state=state)
        items = "\n".join(f"- {memory.text[:SHOWN_CHARACTERS]}" for memory in memories[-MAX_SHOWN:])
        return self._languages.text(event, "memory.list", count=len(memories), state=state, items=items)

    def _agent(self, event: EventEnvelope) -> Agent | None:
        """Returns the agent that would answer, if it may remember things."""
        decision = self._router.decide(event)
        if not isinstance(decision, ToAgent):
            return None
        agent = decision.binding.agent
        return agent if MemoryPolicy.decode(agent.memory_policy).is_on else None
