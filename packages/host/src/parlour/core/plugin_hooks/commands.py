"""Executes `/name arguments` in a chat if a plugin has a command of that name. Its replies go to the same chat.

A command runs outside the queues, once: if the Host stops during a command, its sender is informed.
"""

import asyncio
import logging
from typing import Any

from pydantic import ValidationError

from parlour.core.asyncio_utils import run_uncancelled
from parlour.core.config.bots import BotRepository
from parlour.core.delivery.service import DeliveryService
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Unit
from parlour.core.model.command import CHAT_SURFACES, ChatCommand, CommandResult
from parlour.core.model.command_rules import CommandRules
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import NO_RUN, PluginId
from parlour.core.model.ports import (
    Clock,
    PluginCaller,
    PluginCallFailed,
    PluginDisconnected,
    PluginUnavailable,
    ResultStream,
)
from parlour.core.platforms.connections import PlatformBots
from parlour.core.routing.decisions import ToAgent, ToListeners
from parlour.core.routing.router import Router
from parlour.core.runs.context import event_parts
from parlour.core.store import outbox_rows
from parlour.core.texts.languages import Languages
from parlour_sdk.protocol.component_specs import CommandSpec
from parlour_sdk.protocol.components import CommandReply

from . import payloads
from .components import ComponentRegistry, RegisteredComponent
from .direct_replies import reply_note
from .hook_messages import build_message

logger = logging.getLogger(__name__)

COMMAND_TIMEOUT_SECONDS = 120.0
"""Seconds that a command may take."""
MAX_REPLIES = 50
"""Maximum number of replies to one command."""


class CommandReplies:
    """Sends the replies of a command to the chat in which it was written."""

    def __init__(self, bots: PlatformBots, delivery: DeliveryService, journal: Journal, clock: Clock) -> None:
        self._bots = bots
        self._delivery = delivery
        self._journal = journal
        self._clock = clock

    async def send(self, event: RecordedEvent, part: Any) -> None:
        """Sends a reply. Raises PluginCallFailed if it is invalid."""
        try:
            message = build_message(self._bots, event.envelope.bot_id, CommandReply.model_validate(part))
        except (ValidationError, CallRejected) as error:
            raise PluginCallFailed("invalid_argument", f"its answer can't be shown: {error}") from error
        row = self._delivery.composer.compose_message(event, NO_RUN, "message", message)
        note = reply_note(event, row.outbox_id, self._clock.now())
        unit = Unit("command.answer", (outbox_rows.insert(row), note))
        delivery = self._delivery.publisher.deliver(self._journal, unit, [row])
        # also if the command times out: a row that is stored must be sent
        await run_uncancelled(delivery, "an answer of a command was not kept")


class PluginCommands:
    """Recognizes and executes the chat commands of plugins."""

    def __init__(
        self,
        components: ComponentRegistry,
        plugins: PluginCaller,
        router: Router,
        bots: BotRepository,
        replies: CommandReplies,
        languages: Languages,
        rules: CommandRules,
    ) -> None:
        self._languages = languages
        self._rules = rules
        self._components = components
        self._plugins = plugins
        self._router = router
        self._bots = bots
        self._replies = replies

    def recognize(self, event: EventEnvelope) -> ChatCommand | None:
        if (
            event.surface not in CHAT_SURFACES
            or event.event_type != "message.received"
            or event.run_request is not None
        ):
            return None
        command = self._find_command(event)
        if command is None or not isinstance(self._router.decide(event), ToAgent | ToListeners):
            return None
        return ChatCommand(f"/{command.name}", command.plugin_id, long_running=True)

    def _find_command(self, event: EventEnvelope) -> RegisteredComponent[CommandSpec] | None:
        """Finds the command of a message. A name wins over an alias; among equal names, the first plugin by id wins."""
        name, _ = self._rules.parse(event.text)
        commands = self._components.commands() if name else []
        by_name = next((each for each in commands if each.name == name), None)
        return by_name or next((each for each in commands if name in each.spec.aliases), None)

    async def execute(self, control_input: ChatCommand, event: RecordedEvent) -> CommandResult:
        name, plugin_id = control_input.name, PluginId(control_input.argument)
        if (refusal := self._rules.refusal(name.removeprefix("/"), event.envelope)) is not None:
            return CommandResult(refusal[0], self._languages.text(event, refusal[1]))
        try:
            async with asyncio.timeout(COMMAND_TIMEOUT_SECONDS):
                reply_count = await self._run(name.removeprefix("/"), plugin_id, event)
        except (PluginUnavailable, PluginDisconnected, PluginCallFailed, TimeoutError) as failure:
            message = str(failure) or f"it took longer than {COMMAND_TIMEOUT_SECONDS:.0f} s"
            logger.warning("command %s of plugin %s failed: %s", name, plugin_id, message)
            reply = self._languages.text(event, "command.plugin_failed", name=name)
            return CommandResult(f"{plugin_id} failed: {message}", reply)
        return CommandResult(f"{plugin_id} answered {reply_count} times")

    async def _run(self, name: str, plugin_id: PluginId, event: RecordedEvent) -> int:
        stream = await self._plugins.stream(plugin_id, "run_command", self._invocation(name, event))
        reply_count = 0
        try:
            while parts := await stream.batch():
                for part in parts[: MAX_REPLIES - reply_count]:
                    await self._replies.send(event, part)
                reply_count += len(parts)
                if reply_count >= MAX_REPLIES:
                    _abort_stream(stream)
                    break
        except asyncio.CancelledError:
            _abort_stream(stream)
            raise
        return min(reply_count, MAX_REPLIES)

    def _invocation(self, name: str, event: RecordedEvent) -> dict[str, Any]:
        words_of_text = event.envelope.text.split(maxsplit=1)
        text = words_of_text[1] if len(words_of_text) > 1 else ""
        parts = event_parts(event, multimodal=False)
        return {
            "command": name,
            "arguments": text.split(),
            "text": text,
            "event_id": event.envelope.event_id,
            "bot": payloads.bot_payload(self._bots, event.envelope.bot_id),
            "conversation": parts["conversation"],
            "actor": parts["actor"],
        }


def _abort_stream(stream: ResultStream) -> None:
    stream.abort(PluginCallFailed("cancelled", "nobody waits for it any more"))
