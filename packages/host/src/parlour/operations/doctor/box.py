"""Checks whether the Box can make sandboxes here, and which of its limits hold."""

from collections.abc import AsyncIterator

from parlour.app.settings import HostSettings
from parlour.box.backend import BackendUnavailable
from parlour.box.bubblewrap_backend import BubblewrapBackend

from .finding import Finding, ok, warning


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    if not settings.box.enabled:
        yield ok("box", "the Box is off, so no agent can run commands (box.enabled)")
        return
    try:
        info = await BubblewrapBackend(settings.plugins.bubblewrap, (), "advisory").probe()
    except BackendUnavailable as missing:
        remedy = f"{missing.remedy}: {missing.command}" if missing.command else missing.remedy
        yield warning("box", f"agents can't run commands: {missing.reason}", remedy)
        return
    if info.limits == "rlimit":
        message = "agents run commands in sandboxes, but memory is limited per process only"
        yield warning("box", message, "let Parlour create control groups to limit whole sandboxes")
        return
    yield ok("box", f"agents run commands in sandboxes ({info.name}), limited by {info.limits}")
