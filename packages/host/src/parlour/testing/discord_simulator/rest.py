"""The REST API of the simulated Discord: addresses, the token, rate limits with their headers, and error answers."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import BodyPartReader, web

from parlour.testing.simulator import RateWindows, SimulatorFaults, SimulatorServer
from parlour.testing.simulator.base import Outcome, PlatformSimulator
from parlour.testing.simulator.server import answer_call

from .gateway import GatewayServer
from .messages import Files, MessageCalls, read_json
from .servers import ServerCalls
from .world import DiscordRefusal, DiscordWorld, SentDiscordMessage

API = "/api/v10"
Handler = Callable[[web.Request, Any, Files], Awaitable[Any]]
LIMITS: dict[str, tuple[float, float]] = {
    "send": (5, 5.0), "edit": (5, 5.0), "react": (1, 0.25), "delete": (5, 1.0), "typing": (5, 5.0),
}  # fmt: skip
"""Calls per seconds of each bucket and channel; other routes share one that is rarely reached."""
OTHER_LIMIT = (50.0, 1.0)
GLOBAL_LIMIT = (50.0, 1.0)


class RestServer:
    def __init__(
        self,
        server: SimulatorServer,
        token: str,
        world: DiscordWorld,
        gateway: GatewayServer,
        simulator: PlatformSimulator[SentDiscordMessage, DiscordRefusal],
        faults: SimulatorFaults[DiscordRefusal],
    ) -> None:
        self._token = token
        self._world = world
        self._gateway = gateway
        self._simulator = simulator
        self.faults = faults
        self.limits = dict(LIMITS)
        self.global_limit = GLOBAL_LIMIT
        self.rates = RateWindows()
        self.messages = MessageCalls(world, gateway)
        self.servers = ServerCalls(world, gateway)
        self.calls: list[str] = []
        """The names of all calls, in order."""
        self._add_message_routes(server)
        self._add_server_routes(server)

    def _add_message_routes(self, server: SimulatorServer) -> None:
        calls, message = self.messages, "/channels/{channel}/messages/{message}"

        def channel(request: web.Request) -> str:
            return request.match_info["channel"]

        def ids(request: web.Request) -> tuple[str, str]:
            return request.match_info["channel"], request.match_info["message"]

        async def send(request: web.Request, body: Any, files: Files) -> Any:
            return await calls.create(channel(request), body, files)

        async def edit(request: web.Request, body: Any, files: Files) -> Any:
            return await calls.edit(*ids(request), body)

        async def delete(request: web.Request, body: Any, files: Files) -> None:
            await calls.delete(*ids(request))

        async def get(request: web.Request, body: Any, files: Files) -> Any:
            return calls.get(*ids(request))

        async def history(request: web.Request, body: Any, files: Files) -> Any:
            return calls.history(channel(request), int(request.query.get("limit", "50")))

        async def react(request: web.Request, body: Any, files: Files) -> None:
            await calls.react(*ids(request), request.match_info["emoji"], request.method == "PUT")

        async def pin(request: web.Request, body: Any, files: Files) -> None:
            calls.pin(*ids(request), request.method == "PUT")

        async def respond(request: web.Request, body: Any, files: Files) -> Any:
            answer = calls.respond(request.match_info["interaction"], request.match_info["token"], body)
            return answer if request.query.get("with_response") in ("1", "true", "True") else None

        async def delete_original(request: web.Request, body: Any, files: Files) -> None:
            calls.original(request.match_info["application"], request.match_info["token"]).original_deleted = True

        async def typing(request: web.Request, body: Any, files: Files) -> None:
            self._world.typing.append(self._world.channel(channel(request))["id"])

        for method in ("PUT", "DELETE"):
            self._route(server, method, "/channels/{channel}/messages/pins/{message}", "pin", pin)
            self._route(server, method, message + "/reactions/{emoji}/@me", "react", react)
        self._route(server, "POST", "/channels/{channel}/messages", "send", send)
        self._route(server, "GET", "/channels/{channel}/messages", "history", history)
        self._route(server, "GET", message, "get", get)
        self._route(server, "PATCH", message, "edit", edit)
        self._route(server, "DELETE", message, "delete", delete)
        self._route(server, "POST", "/channels/{channel}/typing", "typing", typing)
        self._route(
            server, "POST", "/interactions/{interaction}/{token}/callback", "respond", respond, needs_token=False
        )
        original = "/webhooks/{application}/{token}/messages/@original"
        self._route(server, "DELETE", original, "original", delete_original, needs_token=False)

    def _add_server_routes(self, server: SimulatorServer) -> None:
        for method, path, name, handler in self.servers.routes():

            async def serve(request: web.Request, body: Any, files: Files, handler: Any = handler) -> Any:
                return await handler(request, body)

            self._route(server, method, path, name, serve)

        async def download(request: web.Request) -> web.Response:
            data = self._world.files.get(request.match_info["file"])
            return web.Response(body=data) if data is not None else web.Response(status=404)

        server.route("GET", "/attachments/{file}/{name}", download)

    def _route(
        self, server: SimulatorServer, method: str, path: str, name: str, handler: Handler, needs_token: bool = True
    ) -> None:
        async def serve(request: web.Request) -> web.Response:
            body, files = await _read(request)

            async def act() -> Any:
                self._check(request, needs_token)
                self._count(name, request)
                return await handler(request, body, files)

            self.calls.append(name)
            outcome = await self._simulator.perform(name, act, DiscordRefusal)
            return await answer_call(
                request, outcome, lambda result: self._answer(result, name, request), self._simulator.notify
            )

        server.route(method, API + path, serve)

    def _check(self, request: web.Request, needs_token: bool) -> None:
        if needs_token and request.headers.get("Authorization") != f"Bot {self._token}":
            raise DiscordRefusal(401, 0, "401: Unauthorized")
        if needs_token and not request.headers.get("User-Agent", "").startswith("DiscordBot ("):
            raise DiscordRefusal(403, 40333, "internal network error")

    def _bucket(self, name: str, request: web.Request) -> tuple[str, tuple[float, float]]:
        major = request.match_info.get("channel") or request.match_info.get("guild") or ""
        bucket = hashlib.sha256(name.encode()).hexdigest()[:16]
        return f"{bucket} {major}", self.limits.get(name, OTHER_LIMIT)

    def _count(self, name: str, request: web.Request) -> None:
        key, limit = self._bucket(name, request)
        wait = self.rates.seconds_to_wait({key: limit})
        is_global = False
        if not wait and (wait := self.rates.seconds_to_wait({"global": self.global_limit})):
            is_global = True
        if wait:
            refusal = DiscordRefusal(429, 0, "You are being rate limited.", retry_after=wait)
            refusal.is_global = is_global
            raise refusal

    def _answer(self, outcome: Outcome[DiscordRefusal], name: str, request: web.Request) -> web.Response:
        key, (calls, seconds) = self._bucket(name, request)
        used, oldest = self.rates.used(key, seconds)
        headers = {
            "X-RateLimit-Limit": str(round(calls)), "X-RateLimit-Remaining": str(max(0, round(calls) - used)),
            "X-RateLimit-Reset-After": f"{oldest:.3f}", "X-RateLimit-Bucket": key.split(" ")[0], "Via": "1.1 google",
            "Content-Type": "application/json",
        }  # fmt: skip
        if outcome.refusal is None:
            if outcome.result is None:
                return web.Response(status=204, headers={**headers, "Content-Type": "text/html"})
            return web.Response(body=json.dumps(outcome.result).encode(), headers=headers)
        refusal = outcome.refusal
        if refusal.retry_after is not None:
            headers |= {"Retry-After": str(int(refusal.retry_after) + 1), "X-RateLimit-Remaining": "0"}
            headers |= {"X-RateLimit-Scope": "global" if refusal.is_global else "user"}
        return web.Response(body=json.dumps(refusal.body()).encode(), status=refusal.status, headers=headers)


async def _read(request: web.Request) -> tuple[Any, Files]:
    """Returns the body and the files of a call."""
    if not request.content_type.startswith("multipart/"):
        return read_json(await request.read()) if request.can_read_body else {}, {}
    body: Any = {}
    files: Files = {}
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        data = bytes(await part.read())
        if part.name == "payload_json":
            body = read_json(data)
        else:
            mime_type = part.headers.get("Content-Type", "application/octet-stream")
            files[str(part.name)] = (part.filename or "unknown", data, mime_type)
    return body, files
