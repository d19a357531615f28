"""Builds the doors through which clients of other standards reach published agents; each with its first request."""

from collections.abc import Callable

from starlette.requests import Request

from parlour.app.host import Host
from parlour.app.settings import HostSettings
from parlour.core.model.doors import Door
from parlour.http.body_limit import AsgiApp
from parlour.http.doors.access import DoorAccess
from parlour.http.doors.context import DoorContext, DoorOptions
from parlour.http.doors.published import PublishedAgents
from parlour.http.doors.turns import DoorTurns
from parlour.http.errors import ErrorResponses
from parlour.http.lazy_app import LazyApp
from parlour.http.principals import Authenticator


def build_doors(
    settings: HostSettings, host: Host, authenticator: Authenticator, responses: ErrorResponses
) -> dict[str, AsgiApp]:
    """Returns the application of each door by the first part of its paths."""
    core = host.core

    def count(door: Door, result: str) -> None:
        host.metrics.count("parlour_door_requests_total", ("door", door), ("result", result))

    context = DoorContext(
        DoorAccess(authenticator, PublishedAgents(core.agents), settings.doors.requests_per_minute, count),
        DoorTurns(core.gateway, host.journal, core.outcomes, core.feed, host.ids, host.clock),
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

    def openai() -> AsgiApp:
        from parlour.http.doors.openai.app import OpenAiDoor

        return OpenAiDoor(context).app()

    return {"/v1": LazyApp(openai)}


def _public_address(configured: str, prefix: str) -> Callable[[Request], str]:
    """Returns a function that tells the address by which clients reach the Host, without a slash at its end."""

    def address(request: Request) -> str:
        return configured or f"{request.url.scheme}://{request.url.netloc}{prefix}"

    return address
