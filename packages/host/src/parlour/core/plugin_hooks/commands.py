"""Executes `/name arguments` in a chat if a plugin has a command of that name. Its replies go to the same chat.

A command runs outside the queues, once: if the Host stops during a command, its sender is informed.
"""

import asyncio
import logging
from typing import Any

from pydantic import ValidationError

from parlour.core.approvals.payloads import outside_a_run
from parlour.core.asyncio_utils import to_its_end
from parlour.core.config.bots import BotBook
from parlour.core.delivery.composer import Delivery
from parlour.core.errors import Refused
from parlour.core.journal import Journal, Unit
from parlour.core.model.command import CHATS, Acted, ControlInput
from parlour.core.model.delivery_policy import DEFAULT
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ports import PluginCaller, PluginLost, PluginRefused, PluginUnavailable, ResultStream
from parlour.core.platforms.connections import RunningBots
from parlour.core.routing.router import Bound, Listened, Router
from parlour.core.runs.context import event_parts
from parlour.core.store import outbox_rows
from parlour.core.texts.languages import Languages
from parlour_sdk.protocol.chain import chain_text
from parlour_sdk.protocol.component_specs import CommandSpec
from parlour_sdk.protocol.components import CommandReply

from . import payloads
from .components import Component, Components

logger = logging.getLogger(__name__)

SECONDS = 120.0
"""Seconds that a command may take."""
ANSWERS = 50
"""Maximum number of replies to one command."""


class PluginCommands:
    """Recognizes and executes the chat commands of plugins."""

    def __init__(
        self,
        components: Components,
        plugins: PluginCaller,
        router: Router,
        bots: BotBook,
        running: RunningBots,
        delivery: Delivery,
        languages: Languages,
        journal: Journal,
    ) -> None:
        self._languages = languages
        self._components = components
        self._plugins = plugins
        self._router = router
        self._bots = bots
        self._running = running
        self._delivery = delivery
        self._journal = journal

    def recognize(self, event: EventEnvelope) -> ControlInput | None:
        if event.surface not in CHATS or event.event_type != "message.received" or event.commission is not None:
            return None
        command = self._named(event)
        if command is None or not isinstance(self._router.decide(event), Bound | Listened):
            return None
        return ControlInput(f"/{command.name}", command.plugin_id, lasting=True)

    def _named(self, event: EventEnvelope) -> Component[CommandSpec] | None:
        """Finds the command of a message. A name wins over an alias; among equal names, the first plugin by id wins."""
        word = event.text.split(maxsplit=1)[0] if event.text.startswith("/") else ""
        name, known = word[1:], self._components.commands() if len(word) > 1 else []
        by_name = next((each for each in known if each.name == name), None)
        return by_name or next((each for each in known if name in each.spec.aliases), None)

    async def act(self, control_input: ControlInput, event: RecordedEvent) -> Acted:
        name, plugin_id = control_input.name, control_input.argument
        try:
            async with asyncio.timeout(SECONDS):
                answers = await self._run(name.removeprefix("/"), plugin_id, event)
        except (PluginUnavailable, PluginLost, PluginRefused, TimeoutError) as failure:
            told = str(failure) or f"it took longer than {SECONDS:.0f} s"
            logger.warning("command %s of plugin %s failed: %s", name, plugin_id, told)
            word = self._languages.text(event, "command.plugin_failed", name=name)
            return Acted(f"{plugin_id} failed: {told}", word)
        return Acted(f"{plugin_id} answered {answers} times")

    async def _run(self, name: str, plugin_id: str, event: RecordedEvent) -> int:
        stream = await self._plugins.stream(plugin_id, "run_command", self._invocation(name, event))
        answers = 0
        try:
            while parts := await stream.batch():
                for part in parts[: ANSWERS - answers]:
                    await self._say(event, part)
                answers += len(parts)
                if answers >= ANSWERS:
                    _leave(stream)
                    break
        except asyncio.CancelledError:
            _leave(stream)
            raise
        return min(answers, ANSWERS)

    def _invocation(self, name: str, event: RecordedEvent) -> dict[str, Any]:
        words = event.envelope.text.split(maxsplit=1)
        text = words[1] if len(words) > 1 else ""
        where = event_parts(event, multimodal=False)
        return {
            "command": name,
            "arguments": text.split(),
            "text": text,
            "event_id": event.envelope.event_id,
            "bot": payloads.bot(self._bots, event.envelope.bot_id),
            "conversation": where["conversation"],
            "actor": where["actor"],
        }

    async def _say(self, event: RecordedEvent, part: Any) -> None:
        try:
            message = self._message(event, CommandReply.model_validate(part))
        except (ValidationError, Refused) as error:
            raise PluginRefused("invalid_argument", f"its answer can't be shown: {error}") from error
        row = self._delivery.compose(event, "", "message", message)
        unit = Unit("command.answer", (outbox_rows.put(row),))
        # also if the command times out: a row that is stored must be sent
        await to_its_end(self._delivery.deliver(self._journal, unit, [row]), "an answer of a command was not kept")

    def _message(self, event: RecordedEvent, reply: CommandReply) -> dict[str, Any]:
        if reply.chain is None:
            return {"role": "assistant", "content": reply.text or ""}
        chain = [each.model_dump(mode="json", exclude_none=True) for each in reply.chain]
        message: dict[str, Any] = {"role": "assistant", "content": chain_text(reply.chain)}
        manifest = self._running.manifest(event.envelope.bot_id)
        if manifest is not None:
            [message["chain"]] = outside_a_run(manifest, DEFAULT)({"chain": chain})
        return message


def _leave(stream: ResultStream) -> None:
    stream.abort(PluginRefused("cancelled", "nobody waits for it any more"))
