"""The MCP server through which a program of a plugin reaches what a run was granted."""

from .base import Tolerant
from .calls import RunCall


class GatewayOpen(RunCall):
    """Opens the gateway for a run, with a new token or for a program that has one already."""

    token: str | None = None
    """Token of an earlier run, which counts for this run from now on."""
    service: bool = False
    """True for a service elsewhere, whose tools take the token as an argument. It passes through what the service logs.
    """
    writes: bool = False
    """True if a service may also use tools that change something."""


class GatewayAccess(Tolerant):
    """Where the gateway is. The token is refused whenever no run is active for it."""

    url: str
    token: str
