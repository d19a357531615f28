"""The HTTP door of a Host, wired. Loaded while the plugins start, since the framework takes its time."""

import contextlib
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn

from parlour_sdk.protocol.base import PROTOCOL_VERSION

from .config import Settings
from .core.access.keys import ApiKeys
from .core.access.logins import Logins
from .core.access.users import Users
from .core.budgets.uses import BudgetUses
from .core.facts.history import History
from .core.inbound.calls import WebhookCalls
from .core.models.default_agent import DefaultAgent
from .core.models.needed import Needed
from .core.observing.measurements import Sample
from .core.tuning import Tuning
from .core.why.trail import Trails
from .data_directory import DataDirectory
from .host import Host
from .http import application, openapi
from .http.accounts import endpoints as accounts
from .http.accounts.throttle import Throttle
from .http.adapters import endpoints as adapters
from .http.agents import endpoints as agents
from .http.application import Interface
from .http.approvals import endpoints as approvals
from .http.artifacts import endpoints as artifacts
from .http.artifacts.access import ArtifactAccess
from .http.audit import endpoints as audit
from .http.auth import Authenticator
from .http.bots import endpoints as bots
from .http.bots import routes as bot_routes
from .http.bots.checking import BotForm
from .http.bots.route_checking import RouteForm
from .http.budgets import endpoints as budgets
from .http.chat import endpoints as chat
from .http.conversations import endpoints as conversations
from .http.events import endpoints as events
from .http.events.door import EventDoor, EventInjection, Results
from .http.feedback import endpoints as feedback
from .http.files import endpoints as files
from .http.health import endpoints as health
from .http.hooks import endpoints as hooks
from .http.hosts import HostNames
from .http.info import endpoints as info
from .http.keys import endpoints as api_keys
from .http.live import endpoints as live
from .http.mcp_servers import endpoints as mcp_servers
from .http.mcp_servers.checking import McpServerForm
from .http.metrics import endpoints as metrics
from .http.models import endpoints as models
from .http.models import providers as model_providers
from .http.models.checking import ModelForms
from .http.models.testing import ModelTest
from .http.page.serving import PageServing
from .http.paging import Pages
from .http.plugins import endpoints as plugins
from .http.plugins.changes import Changes
from .http.runners import endpoints as runners
from .http.runs import endpoints as runs
from .http.runs.listing import RunListing
from .http.runtimes import endpoints as runtimes
from .http.schedules import endpoints as schedules
from .http.settings import endpoints as runtime_settings
from .http.stats import endpoints as stats
from .http.stats.usage import UsageByDay
from .http.targets import Targets
from .http.tools import endpoints as tools
from .http.users import endpoints as people
from .http.webhooks import endpoints as webhooks
from .version import VERSION

CLOSE_SECONDS = 1
"""How long open connections may take to end after the Host has stopped."""


class Server(uvicorn.Server):
    """Signals are the Host's: it has more to end than connections."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def server(settings: Settings, host: Host, setup_token: str = "") -> Server:
    config = uvicorn.Config(
        PageServing(interface(settings, host, setup_token).serve, Path(__file__).parent / "page"),
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


def interface(settings: Settings, host: Host, setup_token: str = "") -> Interface:
    core, journal, ids, clock = host.core, host.journal, host.ids, host.clock
    keys, users, logins = ApiKeys(journal, ids, clock), Users(journal, ids, clock), Logins(journal, clock)
    names = HostNames(settings.http.host, settings.http.names)
    authenticator = Authenticator(keys, logins, names)
    pages = Pages(journal, host.cursors)
    uploads = _emptied(DataDirectory(settings.data).folder("uploads"))

    def plugin_status(plugin_id: str) -> str:
        supervisor = host.runtime.supervisors().get(plugin_id)
        return supervisor.status if supervisor else "stopped"

    door = EventDoor(
        EventInjection(core.gateway, core.agents, core.bots, core.routes, ids, clock), Results(journal, core.outcomes)
    )
    model_forms = ModelForms(host.models.book, host.models.catalogue, host.secrets)
    targets = Targets(core.agents, core.bots)
    domains = [
        openapi.router(),
        info.router(VERSION, partial(_facts, settings, host.tuning), clock),
        runtime_settings.router(host.tuning, clock),
        live.router(host.board, authenticator),
        stats.router(host.statistics, UsageByDay(host.statistics, core.days, core.agents, host.models.book), clock),
        accounts.router(users, logins, names, Throttle(clock), setup_token),
        people.router(users, host.cursors),
        api_keys.router(keys, host.cursors, clock),
        schedules.router(core.schedules, core.scheduler, targets, host.cursors, ids, clock),
        webhooks.router(
            core.inbound,
            WebhookCalls(core.gateway, host.secrets, ids, clock),
            targets,
            host.secrets,
            host.cursors,
            ids,
            clock,
        ),
        events.router(door, pages, Trails(journal, clock)),
        chat.router(
            journal,
            core.agents,
            core.gateway,
            core.conversations,
            core.feed,
            core.sessions,
            core.approvals,
            authenticator,
            pages,
            host.cursors,
            ids,
            clock,
        ),
        approvals.router(journal, core.approvals, pages),
        runs.router(journal, core.control, core.reruns, RunListing(journal, core.agents, host.cursors), pages, clock),
        runtimes.router(core.workers, host.cursors),
        agents.router(core.agents, core.registry, host.secrets, host.cursors, ids, clock),
        adapters.router(host.catalogue, host.cursors),
        bots.router(
            core.bots,
            BotForm(host.catalogue, host.secrets),
            host.bots,
            core.routes,
            core.agents,
            host.cursors,
            ids,
            clock,
        ),
        bot_routes.router(core.bots, core.routes, RouteForm(core.agents, host.secrets), core.router, clock),
        runners.router(core.registry, plugin_status, host.cursors),
        model_providers.router(host.models.book, host.models.catalogue, model_forms, host.cursors, ids, clock),
        models.router(
            host.models.book,
            model_forms,
            ModelTest(host.models.models),
            core.agents,
            DefaultAgent(journal, core.agents),
            Needed(core.agents, core.registry),
            host.cursors,
            ids,
            clock,
        ),
        budgets.router(core.budgets, BudgetUses(journal, core.days), host.cursors, ids, clock),
        plugins.router(host.plugins, uploads, Changes(core.audit_log, clock), host.cursors),
        tools.router(host.tools.registry, host.cursors),
        mcp_servers.router(
            host.tools.mcp_book,
            host.tools.mcp_servers,
            McpServerForm(host.tools.mcp_book, host.secrets, host.tools.reserved, settings.mcp.allow_unsandboxed),
            host.cursors,
            ids,
            clock,
        ),
        conversations.router(
            journal, pages, History(journal, host.cursors), core.conversations, core.erasing, ids, clock
        ),
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
        [
            health.router(host.missing),
            metrics.router(host.measurements, partial(_gauges, host)),
            hooks.router(host.bots.hook),
        ],
        domains,
        door,
        settings.http.body_bytes,
        settings.http.upload_bytes,
    )


def _facts(settings: Settings, tuning: Tuning) -> dict[str, Any]:
    """What clients should know before they try."""
    return {
        "protocol": PROTOCOL_VERSION,
        "limits": settings.http.model_dump(include={"body_bytes", "chat_frame_bytes", "upload_bytes"}),
        "outbound_ips": tuning.values()["workspace.outbound_ips"],
        "time_zone": tuning.values()["workspace.time_zone"],
        "features": _features(settings),
    }


def _features(settings: Settings) -> dict[str, bool]:
    """What depends on how it was set up."""
    return {
        "mcp_stdio": settings.mcp.allow_unsandboxed,
        "object_storage": settings.artifacts.store == "s3",
        "postgresql": bool(settings.database.url.get_secret_value()),
        "standalone_runtime": bool(settings.runtime.url),
        "traces": bool(settings.telemetry.endpoint),
    }


def _gauges(host: Host) -> Iterator[Sample]:
    """How things are at this moment."""
    plugins = Counter(supervisor.status for supervisor in host.runtime.supervisors().values())
    bots = Counter(bot.state for bot in host.bots.bots())
    for name, states, label in (("parlour_plugins", plugins, "status"), ("parlour_bots", bots, "state")):
        yield from (Sample(name, ((label, state),), count) for state, count in sorted(states.items()))
    yield Sample("parlour_active_runs", (), len(list(host.core.sessions.all())))


def _emptied(uploads: Path) -> Path:
    """What a Host that died was receiving is nobody's."""
    for rest in uploads.iterdir():
        shutil.rmtree(rest, ignore_errors=True)
    return uploads
