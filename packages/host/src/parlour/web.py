"""The HTTP door of a Host, wired. Loaded while the plugins start, since the framework takes its time."""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import uvicorn

from .config import Settings
from .core.access.keys import ApiKeys
from .core.why.trail import Trails
from .data_directory import DataDirectory
from .host import Host
from .http import application
from .http.agents import endpoints as agents
from .http.artifacts import endpoints as artifacts
from .http.artifacts.access import ArtifactAccess
from .http.audit import endpoints as audit
from .http.auth import Authenticator
from .http.chat import endpoints as chat
from .http.conversations import endpoints as conversations
from .http.events import endpoints as events
from .http.events.door import EventDoor, EventInjection, Results
from .http.feedback import endpoints as feedback
from .http.files import endpoints as files
from .http.health import endpoints as health
from .http.paging import Pages
from .http.plugins import endpoints as plugins
from .http.plugins.changes import Changes
from .http.runners import endpoints as runners
from .http.runs import endpoints as runs
from .http.runtimes import endpoints as runtimes
from .version import VERSION

CLOSE_SECONDS = 1
"""How long open connections may take to end after the Host has stopped."""


class Server(uvicorn.Server):
    """Signals are the Host's: it has more to end than connections."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def server(settings: Settings, host: Host) -> Server:
    config = uvicorn.Config(
        _application(settings, host),
        http="httptools",
        ws="websockets-sansio",
        ws_max_size=settings.http.chat_frame_bytes,
        ws_per_message_deflate=False,
        lifespan="off",
        proxy_headers=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )
    return Server(config)


def _application(settings: Settings, host: Host) -> Callable[..., object]:
    core, journal, ids, clock = host.core, host.journal, host.ids, host.clock
    authenticator = Authenticator(ApiKeys(journal, ids, clock))
    pages = Pages(journal, host.cursors)
    uploads = _emptied(DataDirectory(settings.data).folder("uploads"))

    def plugin_status(plugin_id: str) -> str:
        supervisor = host.runtime.supervisors().get(plugin_id)
        return supervisor.status if supervisor else "stopped"

    door = EventDoor(
        EventInjection(core.gateway, core.agents, core.routes, ids, clock), Results(journal, core.outcomes)
    )
    domains = [
        events.router(door, pages, Trails(journal, clock)),
        chat.router(
            journal,
            core.agents,
            core.gateway,
            core.conversations,
            core.feed,
            core.sessions,
            authenticator,
            pages,
            ids,
            clock,
        ),
        runs.router(journal, core.control, pages),
        runtimes.router(core.workers),
        agents.router(core.agents, core.registry, host.cursors, ids, clock),
        runners.router(core.registry, plugin_status),
        plugins.router(host.plugins, uploads, Changes(core.audit_log, clock)),
        conversations.router(journal, pages, core.conversations, core.erasing, ids, clock),
        audit.router(pages),
        feedback.router(pages),
        artifacts.router(core.artifacts, ArtifactAccess(journal)),
        files.router(
            core.artifacts,
            ArtifactAccess(journal),
            journal,
            clock,
            uploads,
            int(settings.artifacts.unclaimed_upload_hours * 3_600_000),
        ),
    ]
    return application.build(
        VERSION,
        authenticator,
        health.router(host.missing),
        domains,
        door,
        settings.http.body_bytes,
        settings.http.upload_bytes,
    )


def _emptied(uploads: Path) -> Path:
    """What a Host that died was receiving is nobody's."""
    for rest in uploads.iterdir():
        shutil.rmtree(rest, ignore_errors=True)
    return uploads
