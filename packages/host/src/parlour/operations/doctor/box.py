"""Checks whether the Box makes sandboxes here, and which limits hold, or whether one elsewhere answers."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from parlour.app.box import read_box_token
from parlour.app.settings import HostSettings
from parlour.box.backend import BackendUnavailable
from parlour.box.bubblewrap_backend import BubblewrapBackend
from parlour.core.redaction import Redactor
from parlour.providers.box.connector import box_at
from parlour_sdk.wire import WireError

from .finding import Finding, ok, warning

ANSWER_SECONDS = 5.0


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    if not settings.box.enabled:
        yield ok("box", "the Box is off, so no agent can run commands (box.enabled)")
        return
    async with aclosing(_check_elsewhere(settings) if settings.box.endpoint else _check_here(settings)) as findings:
        async for finding in findings:
            yield finding


async def _check_elsewhere(settings: HostSettings) -> AsyncGenerator[Finding, None]:
    box = settings.box
    opening = box_at(box.endpoint, lambda: read_box_token(box, Redactor()))
    try:
        async with opening() as peer:
            await peer.call("ping", None, ANSWER_SECONDS)
    except WireError as error:
        remedy = "start 'parlour box' there, and check box.endpoint and its token"
        yield warning("box", f"agents can't run commands: {error.message}", remedy)
        return
    yield ok("box", f"agents run commands in the Box at {box.endpoint}")


async def _check_here(settings: HostSettings) -> AsyncGenerator[Finding, None]:
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
