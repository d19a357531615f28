"""The chat commands that answer questions: `/help`, `/agent`, `/model`, `/usage` and `/why`."""

from collections.abc import Sequence
from typing import Protocol

from parlour.core.model.agent import Binding
from parlour.core.model.command import CHAT_SURFACES, ChatCommand, CommandResult
from parlour.core.model.command_rules import CommandRules
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.routing.decisions import ToAgent
from parlour.core.routing.router import Router
from parlour.core.texts.languages import Languages

COMMANDS = ("help", "agent", "model", "usage", "why")
MAX_LINES = 30
"""Lines of an answer; the rest is left out."""


class CommandFacts(Protocol):
    """Finds the facts that the commands tell."""

    def commands(self, language: str) -> Sequence[tuple[str, str]]:
        """Returns the names of all commands with their descriptions."""
        ...

    def models(self, binding: Binding) -> Sequence[str]:
        """Returns the names of the models that the agent's configuration selects."""
        ...

    async def usage(self, event: RecordedEvent, binding: Binding, language: str) -> Sequence[str]:
        """Returns lines about the limits of the sender and the tokens of the conversation."""
        ...

    async def why(self, event: RecordedEvent, language: str) -> Sequence[str]:
        """Returns the steps of the sender's message before this one."""
        ...


class InfoCommands:
    """Recognizes and executes the commands that answer questions, where an agent answers."""

    def __init__(self, router: Router, rules: CommandRules, facts: CommandFacts, languages: Languages) -> None:
        self._router = router
        self._rules = rules
        self._facts = facts
        self._languages = languages

    def recognize(self, event: EventEnvelope) -> ChatCommand | None:
        is_chat = event.surface in CHAT_SURFACES and event.event_type == "message.received"
        if not is_chat or event.run_request is not None or event.input.get("attachments"):
            return None
        name, arguments = self._rules.parse(event.text)
        if name not in COMMANDS or arguments or not isinstance(self._router.decide(event), ToAgent):
            return None
        return ChatCommand(f"/{name}")

    async def execute(self, control_input: ChatCommand, event: RecordedEvent) -> CommandResult:
        name = control_input.name.removeprefix("/")
        decision = self._router.decide(event.envelope)
        if not isinstance(decision, ToAgent):
            return CommandResult("no agent answers here any more")
        if (refusal := self._rules.refusal(name, event.envelope)) is not None:
            return CommandResult(refusal[0], self._languages.text(event, refusal[1]))
        lines = await self._lines(name, event, decision.binding)
        return CommandResult(f"it was told about /{name}", "\n".join(lines[:MAX_LINES]))

    async def _lines(self, name: str, event: RecordedEvent, binding: Binding) -> Sequence[str]:
        language, agent = self._languages.for_event(event.envelope), binding.agent
        match name:
            case "help":
                commands = [
                    each for each in self._facts.commands(language) if self._rules.allows(each[0], event.envelope)
                ]
                return [f"{self._rules.prefix}{command}: {description}" for command, description in commands]
            case "agent":
                answers = self._languages.text(event, "command.agent", name=agent.name)
                return [answers, agent.description] if agent.description else [answers]
            case "model":
                names = ", ".join(self._facts.models(binding))
                key = "command.model" if names else "command.no_model"
                return [self._languages.text(event, key, names=names)]
            case "usage":
                return await self._facts.usage(event, binding, language)
            case _:
                found = await self._facts.why(event, language)
                return found or [self._languages.text(event, "command.why_nothing")]
