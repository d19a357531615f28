"""Checks whether the Box makes sandboxes here, and which limits hold, or whether one elsewhere answers."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory

from parlour.app.box import box_config, read_box_token
from parlour.app.settings import HostSettings
from parlour.box.available_backends import make_backend
from parlour.box.backend import BackendUnavailable
from parlour.box.project_quotas import ProjectQuotas
from parlour.box.workspace_images import WorkspaceImages
from parlour.core.redaction import Redactor
from parlour.providers.box.connector import box_at
from parlour_sdk.wire import WireError

from .finding import Finding, ok, warning

ANSWER_SECONDS = 5.0
QUOTAS = {
    "loop": "the kernel limits the size of workspaces",
    "project": "the kernel limits the size of workspaces, by project quotas",
    "advisory": "the size of workspaces is checked every second",
    "remote": "the service limits the size of workspaces",
}


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
    with TemporaryDirectory() as folder:  # so that the Box of a running Host is left alone
        backend = make_backend(box_config(settings, Path(folder)).model_copy(update={"root": folder}))
        try:
            info = await backend.probe()
        except BackendUnavailable as missing:
            remedy = f"{missing.remedy}: {missing.command}" if missing.command else missing.remedy
            others = "; ".join(each.error.reason for each in backend.refused if each.error is not missing)
            reason = f"{missing.reason} (also: {others})" if others else missing.reason
            yield warning("box", f"agents can't run commands: {reason}", remedy)
            return
        quota = info.quota if info.quota == "remote" else _quota(settings, Path(folder), info.quota != "advisory")
    if info.limits == "rlimit":
        message = f"agents run commands in sandboxes ({info.name}), but memory is limited per process only"
        yield warning("box", message, "let Parlour create control groups to limit whole sandboxes")
        return
    yield ok("box", f"agents run commands in sandboxes ({info.name}), limited by {info.limits}; {QUOTAS[quota]}")


def _quota(settings: HostSettings, folder: Path, shows_images: bool) -> str:
    """Returns what limits the size of workspaces on this machine."""
    local = settings.box.local
    if local.quota == "advisory":
        return "advisory"
    if shows_images and not WorkspaceImages(local.workspace_quota_mb).problem(folder):
        return "loop"
    return "advisory" if ProjectQuotas(local.workspace_quota_mb).problem(folder) else "project"
