"""The simulated Discord as a whole: one server with gateway and REST API, and what its users do."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from parlour.testing.simulator import PlatformSimulator, SimulatorFaults, SimulatorServer

from .gateway import GatewayServer
from .rest import RestServer
from .world import APPLICATION_ID, DiscordRefusal, DiscordWorld, Json, SentDiscordMessage, SimulatedInteraction

TOKEN = "MTAwMDAwMDAwMDAwMDAwMDAx.Gsecret.a-discord-token-of-the-simulator"
BUTTON, COMMAND = 3, 2


@dataclass
class DiscordFaults(SimulatorFaults[DiscordRefusal]):
    """The faults of the simulated Discord."""

    def refuse(self, call: str, status: int, code: int, message: str, times: int = 1) -> None:
        self.refuse_with(call, DiscordRefusal(status, code, message), times)

    def too_many(self, call: str, seconds: float, is_global: bool = False) -> None:
        refusal = DiscordRefusal(429, 0, "You are being rate limited.", retry_after=seconds)
        refusal.is_global = is_global
        self.refuse_with(call, refusal)


class DiscordSimulator(PlatformSimulator[SentDiscordMessage, DiscordRefusal]):
    def __init__(self) -> None:
        self.token = TOKEN
        self.world = DiscordWorld()
        self.faults = DiscordFaults()
        super().__init__(self.faults, self.world.sent)
        self.server = SimulatorServer()
        self.gateway = GatewayServer(self.world, TOKEN, self.notify)
        self.rest = RestServer(self.server, TOKEN, self.world, self.gateway, self, self.faults)
        self.server.route_socket("/gateway/", self.gateway.serve)
        self.server.route_socket("/gateway", self.gateway.serve)
        self.reported: list[Json] = []
        """The frames of users' messages, in order."""

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Yields the address of the REST API."""
        async with self.server.listening(port) as address:
            self.gateway.url = f"ws{address.removeprefix('http')}/gateway"
            self.rest.messages.address = address
            try:
                yield f"{address}/api/v10"
            finally:
                await self.end_tasks()

    # --- what users do

    async def say(self, text: str, user: Json, channel_id: str, **fields: Any) -> Json:
        """Lets a user write, and returns the message."""
        message = self.world.write(channel_id, user, text, **fields)
        await self.report("MESSAGE_CREATE", message)
        return message

    async def report(self, name: str, data: Json) -> None:
        for each_name, each_data in self.scheduled((name, data)):
            frame = await self.gateway.dispatch(each_name, each_data)
            if frame is not None:
                self.reported.append(frame)
        await self.notify()

    async def press(self, message: Json, label: str, user: Json) -> SimulatedInteraction:
        """Lets a user press a button of a message."""
        buttons = [each for row in message["components"] for each in row["components"]]
        button = next(each for each in buttons if each["label"] == label)
        data = {"custom_id": button["custom_id"], "component_type": 2}
        return await self._interact(BUTTON, data, message["channel_id"], user, message=message)

    async def command(self, name: str, options: Json, channel_id: str, user: Json) -> SimulatedInteraction:
        """Lets a user run a slash command."""
        listed = [{"name": each, "type": 3, "value": value} for each, value in options.items()]
        return await self._interact(COMMAND, {"id": self.world.id(), "name": name, "options": listed}, channel_id, user)

    async def _interact(
        self, kind: int, data: Json, channel_id: str, user: Json, **fields: Any
    ) -> SimulatedInteraction:
        guild_id = self.world.channel(channel_id).get("guild_id")
        person: Json = {"user": user}
        if guild_id:
            person = {"guild_id": guild_id, "member": {**self.world.member(guild_id, user["id"]), "permissions": "0"}}
        payload = {
            "id": self.world.id(), "application_id": APPLICATION_ID, "type": kind,
            "token": f"interaction-{self.world.id()}", "version": 1, "locale": "en-US", "channel_id": channel_id,
            "data": data, "entitlements": [], "attachment_size_limit": 10_485_760,
            "authorizing_integration_owners": {}, "channel": self.world.channel(channel_id), **person, **fields,
        }  # fmt: skip
        interaction = self.world.interactions[payload["id"]] = SimulatedInteraction(payload, time.monotonic())
        await self.report("INTERACTION_CREATE", payload)
        return interaction

    def cut(self) -> None:
        """Breaks every connection."""
        self.server.cut()
