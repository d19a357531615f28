"""Serves commands: the answers that they yield or return become a stream of replies."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from parlour_sdk.api import PluginAPI
from parlour_sdk.api.chains import as_chain
from parlour_sdk.components.command import Answer, Command, CommandContext
from parlour_sdk.plugin.loaded_plugin import LoadedPlugin
from parlour_sdk.protocol.components import CommandInvocation, CommandReply
from parlour_sdk.wire import WireError

from .requests import COMPONENT_FAILURES, parse_request, to_json_dict, to_wire_error


class CommandService:
    def __init__(self, plugin: LoadedPlugin, api: PluginAPI) -> None:
        self._commands = plugin.commands
        self._names = {name: name for name in plugin.commands}
        for name in plugin.commands:
            self._names |= dict.fromkeys(plugin.spec("Command", name).get("aliases", ()), name)
        self._api = api

    async def run_command(self, data: Any) -> AsyncGenerator[dict[str, Any], None]:
        request = parse_request(CommandInvocation, data, "run_command")
        name = self._names.get(request.command)
        if name is None:
            raise WireError("not_found", f"this plugin has no command '{request.command}'")
        fields = {field: getattr(request, field) for field in ("arguments", "text", "event_id", "bot", "conversation")}
        context = CommandContext(self._api, name, actor=request.actor, **fields)
        try:
            async with aclosing(_answers(self._commands[name], context)) as answers:
                async for answer in answers:
                    yield to_json_dict(_reply(answer))
        except COMPONENT_FAILURES as error:
            raise to_wire_error(f"the command '{name}'", error) from error


async def _answers(command: Command, context: CommandContext) -> AsyncGenerator[Answer, None]:
    running = command.run(context)
    if isinstance(running, AsyncGenerator):
        async with aclosing(running):
            async for answer in running:
                yield answer
    elif (single := await running) is not None:
        yield single


def _reply(answer: Answer) -> CommandReply:
    return CommandReply(text=answer) if isinstance(answer, str) else CommandReply(chain=as_chain(answer))
