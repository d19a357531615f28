"""Builds the doors through which clients of other standards reach published agents; each with its first request."""

from collections.abc import Callable, MutableMapping
from typing import Any

from starlette.requests import Request

from parlour.app.host import Host
from parlour.app.settings import HostSettings
from parlour.core.model.doors import Door
from parlour.http.body_limit import AsgiApp, Receive, Send
from parlour.http.doors.access import DoorAccess
from parlour.http.doors.context import DoorContext, DoorOptions
from parlour.http.doors.published import PublishedAgents
from parlour.http.doors.turns import DoorTurns
from parlour.http.errors import ErrorResponses, Problem
from parlour.http.lazy_app import LazyApp
from parlour.http.principals import Authenticator


def build_doors(
    settings: HostSettings, host: Host, authenticator: Authenticator, responses: ErrorResponses
) -> dict[str, AsgiApp]:
    """Returns the application of each door by the first part of its paths."""
    core = host.core

    def count(door: Door, result: str) -> None:
        host.metrics.count("parlour_door_requests_total", ("door", door), ("result", result))

    turns = DoorTurns(core.gateway, host.journal, core.outcomes, core.feed, host.ids, host.clock)
    context = DoorContext(
        DoorAccess(authenticator, PublishedAgents(core.agents), settings.doors.requests_per_minute, count),
        turns,
        core.control,
        core.audit_log,
        responses,
        DoorOptions(
            _public_address(settings.http.public_address, settings.http.prefix),
            settings.http.body_bytes,
            settings.doors.on_disconnect == "cancel",
            host.clock,
        ),
    )

    def a2a() -> AsgiApp:
        from parlour.http.doors.a2a.app import A2aDoor
        from parlour.http.doors.a2a.calls import TaskCalls
        from parlour.http.doors.a2a.messages import MessageParts

        calls = TaskCalls(turns, host.journal, core.conversations)
        return A2aDoor(context, calls, MessageParts(core.artifacts)).app()

    def agui() -> AsgiApp:
        from parlour.http.doors.agui.app import AgUiDoor

        return AgUiDoor(context).app()

    def openai() -> AsgiApp:
        from parlour.http.doors.openai.app import OpenAiDoor

        return OpenAiDoor(context).app()

    def mcp() -> AsgiApp:
        try:
            from parlour.http.doors.mcp.app import McpDoor
        except ImportError:
            return _MissingExtra("mcp", responses)
        return McpDoor(context, host.journal, core.artifacts, settings.http.body_bytes)

    def gateway() -> AsgiApp:
        try:
            from parlour.http.gateway.app import RunGateway
        except ImportError:
            return _MissingExtra("mcp", responses)
        return RunGateway(core.gateway_tokens, core.gate)

    return {
        "/v1": LazyApp(openai),
        "/a2a": LazyApp(a2a),
        "/agui": LazyApp(agui),
        "/api/v1/mcp": LazyApp(mcp),
        "/gateway": LazyApp(gateway),
    }


class _MissingExtra:
    """Answers for a door whose packages are not installed."""

    def __init__(self, extra: str, responses: ErrorResponses) -> None:
        message = f"this door needs a package that is not installed; install parlour[{extra}]"
        self._response = responses.build(Problem(501, "not_supported", message))

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        await self._response(scope, receive, send)


def _public_address(configured: str, prefix: str) -> Callable[[Request], str]:
    """Returns a function that tells the address by which clients reach the Host, without a slash at its end."""

    def address(request: Request) -> str:
        return configured or f"{request.url.scheme}://{request.url.netloc}{prefix}"

    return address
