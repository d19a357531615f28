"""Lists the domains of the HTTP interface: their path prefixes, and the dependencies of their endpoints.

Each method imports the endpoints of its domain, and is called at the first request for that domain.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from parlour.app.host import Host
from parlour.app.settings import Settings
from parlour.core.access.browser_sessions import Logins
from parlour.core.access.keys import ApiKeys
from parlour.core.access.users import Users
from parlour.http.allowed_hosts import HostNames
from parlour.http.domain import Domain, below_api
from parlour.http.events.service import EventDoor
from parlour.http.principals import Authenticator
from parlour.version import VERSION
from parlour_sdk.values import dataclass

from .connection_limits import ConnectionLimits
from .host_facts import gauges, host_facts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from parlour.http.models.mapping import ModelForms
    from parlour.http.pagination import Pages
    from parlour.http.target_validation import Targets


@dataclass(frozen=True, slots=True)
class Domains:
    """Builds the routers of all domains."""

    settings: Settings
    host: Host
    authenticator: Authenticator
    keys: ApiKeys
    users: Users
    logins: Logins
    names: HostNames
    door: EventDoor
    uploads: Path
    setup_token: str
    limits: ConnectionLimits | None

    def all(self) -> list[Domain]:
        """Returns the domains in the order of the OpenAPI document."""
        return [
            Domain(("/healthz", "/readyz"), self.health),
            Domain(("/metrics",), self.metrics),
            Domain(("/hooks",), self.hooks),
            below_api("openapi.json", self.openapi),
            below_api("info", self.info),
            below_api("settings", self.runtime_settings),
            below_api("live", self.live),
            below_api("stats", self.stats),
            below_api("auth", self.accounts),
            below_api("users", self.people),
            below_api("api-keys", self.api_keys),
            below_api("schedules", self.schedules),
            below_api("webhooks", self.webhooks),
            below_api("events", self.events),
            below_api("agents", self.chat),
            below_api("approvals", self.approvals),
            below_api("runs", self.runs),
            below_api("runtimes", self.runtimes),
            below_api("agents", self.agents),
            below_api("adapters", self.adapters),
            below_api("bots", self.bots),
            below_api("bots", self.bot_routes),
            below_api("default-agents", self.default_agents),
            below_api("runners", self.runners),
            below_api("model-kinds model-providers", self.model_providers),
            below_api("models", self.models),
            below_api("budgets", self.budgets),
            below_api("plugins", self.plugins),
            below_api("tools", self.tools),
            below_api("mcp-servers", self.mcp_servers),
            below_api("conversations", self.conversations),
            below_api("audit", self.audit),
            below_api("feedback", self.feedback),
            below_api("artifacts", self.artifacts),
            below_api("files", self.files),
        ]

    def health(self) -> "APIRouter":
        from parlour.http.health.endpoints import router

        return router(self.host.missing)

    def metrics(self) -> "APIRouter":
        from parlour.http.metrics.endpoints import router

        return router(self.host.measurements, partial(gauges, self.host, self.limits))

    def hooks(self) -> "APIRouter":
        from parlour.http.platform_callbacks.endpoints import router

        return router(self.host.bots.hook, self.host.bots.takes_sockets)

    def openapi(self) -> "APIRouter":
        from parlour.http.openapi import router

        return router()

    def info(self) -> "APIRouter":
        from parlour.http.info.endpoints import router

        return router(VERSION, partial(host_facts, self.settings, self.host.tuning, self.host.models), self.host.clock)

    def runtime_settings(self) -> "APIRouter":
        from parlour.http.settings.endpoints import router

        return router(self.host.tuning, self.host.clock)

    def live(self) -> "APIRouter":
        from parlour.http.live.endpoints import router

        return router(self.host.board, self.authenticator)

    def stats(self) -> "APIRouter":
        from parlour.http.stats.endpoints import router
        from parlour.http.stats.usage import UsageByDay

        host, core = self.host, self.host.core
        usage = UsageByDay(host.statistics, core.days, core.agents, host.models.book)
        return router(host.statistics, usage, host.clock)

    def accounts(self) -> "APIRouter":
        from parlour.http.accounts.endpoints import router
        from parlour.http.accounts.throttle import Throttle

        def refused(reason: str) -> None:
            self.host.measurements.count("parlour_throttled_logins_total", ("reason", reason))

        throttle, path = Throttle(self.host.clock, refused), self.settings.http.prefix or "/"
        return router(self.users, self.logins, self.names, throttle, self.setup_token, path)

    def people(self) -> "APIRouter":
        from parlour.http.users.endpoints import router

        return router(self.users, self.host.core.model_calls, self.host.cursors)

    def api_keys(self) -> "APIRouter":
        from parlour.http.keys.endpoints import router

        return router(self.keys, self.host.cursors, self.host.clock)

    def schedules(self) -> "APIRouter":
        from parlour.http.schedules.endpoints import router

        host, core = self.host, self.host.core
        return router(core.schedules, core.scheduler, self._targets(), host.cursors, host.ids, host.clock)

    def webhooks(self) -> "APIRouter":
        from parlour.core.ingest.inbound_webhooks import WebhookCalls
        from parlour.http.webhooks.endpoints import router

        host, core = self.host, self.host.core
        calls = WebhookCalls(core.gateway, host.secrets, host.ids, host.clock)
        public_url = self.settings.http.public_address
        return router(
            core.inbound, calls, self._targets(), host.secrets, host.cursors, host.ids, host.clock, public_url
        )

    def events(self) -> "APIRouter":
        from parlour.core.observability.explain.explanations import Trails
        from parlour.http.events.endpoints import router

        return router(self.door, self._pages(), Trails(self.host.journal, self.host.clock))

    def chat(self) -> "APIRouter":
        from parlour.http.chat.endpoints import router
        from parlour.http.chat.presence import ChatLimits

        host, core, http = self.host, self.host.core, self.settings.http
        return router(
            host.journal,
            core.agents,
            core.gateway,
            core.conversations,
            core.feed,
            core.control,
            core.approvals,
            self.authenticator,
            self._pages(),
            host.cursors,
            host.ids,
            host.clock,
            ChatLimits(http.chat_sockets, http.chat_send_seconds),
        )

    def approvals(self) -> "APIRouter":
        from parlour.http.approvals.endpoints import router

        return router(self.host.journal, self.host.core.approvals, self._pages())

    def runs(self) -> "APIRouter":
        from parlour.http.runs.endpoints import router
        from parlour.http.runs.queries import RunListing

        host, core = self.host, self.host.core
        listing = RunListing(host.journal, core.agents, host.cursors)
        return router(host.journal, core.control, core.reruns, listing, self._pages(), host.clock)

    def runtimes(self) -> "APIRouter":
        from parlour.http.runtimes.endpoints import router

        return router(self.host.core.workers, self.host.cursors)

    def agents(self) -> "APIRouter":
        from parlour.http.agents.endpoints import router

        host, core = self.host, self.host.core
        return router(core.agents, core.registry, host.secrets, host.cursors, host.ids, host.clock)

    def adapters(self) -> "APIRouter":
        from parlour.http.adapters.endpoints import router

        return router(self.host.catalogue, self.host.cursors)

    def bots(self) -> "APIRouter":
        from parlour.http.bots.endpoints import router
        from parlour.http.bots.mapping import BotForm

        host, core = self.host, self.host.core
        form = BotForm(host.catalogue, host.secrets)
        return router(core.bots, form, host.bots, core.routes, core.agents, host.cursors, host.ids, host.clock)

    def bot_routes(self) -> "APIRouter":
        from parlour.http.bots.route_mapping import RouteForm
        from parlour.http.bots.routes import router

        host, core = self.host, self.host.core
        form = RouteForm(core.agents, host.plugins, host.secrets)
        return router(core.bots, core.routes, form, core.router, core.audience, host.clock)

    def default_agents(self) -> "APIRouter":
        from parlour.http.default_agents.endpoints import router
        from parlour.http.default_agents.mapping import DefaultAgentForm

        host, core = self.host, self.host.core
        form = DefaultAgentForm(core.agents, core.bots, host.catalogue)
        return router(core.default_agents, form, host.cursors, host.ids, host.clock)

    def runners(self) -> "APIRouter":
        from parlour.http.runners.endpoints import router

        return router(self.host.core.registry, self._plugin_status, self.host.cursors)

    def model_providers(self) -> "APIRouter":
        from parlour.http.models.providers import router

        host, models = self.host, self.host.models
        return router(models.book, models.catalogue, self._model_forms(), host.cursors, host.ids, host.clock)

    def models(self) -> "APIRouter":
        from parlour.core.config.default_model import DefaultAgent
        from parlour.core.config.model_usage import Needed
        from parlour.http.models.connection_test import ModelTest
        from parlour.http.models.endpoints import router

        host, core = self.host, self.host.core
        return router(
            host.models.book,
            self._model_forms(),
            ModelTest(host.models.models),
            core.agents,
            DefaultAgent(host.journal, core.agents),
            Needed(core.agents, core.registry),
            host.cursors,
            host.ids,
            host.clock,
        )

    def budgets(self) -> "APIRouter":
        from parlour.core.models.budget_uses import BudgetUses
        from parlour.http.budgets.endpoints import router

        host, core = self.host, self.host.core
        return router(core.budgets, BudgetUses(host.journal, core.days), host.cursors, host.ids, host.clock)

    def plugins(self) -> "APIRouter":
        from parlour.http.plugins.audit import Changes
        from parlour.http.plugins.endpoints import router

        host = self.host
        return router(host.plugins, self.uploads, Changes(host.core.audit_log, host.clock), host.cursors)

    def tools(self) -> "APIRouter":
        from parlour.http.tools.endpoints import router

        return router(self.host.tools.registry, self.host.cursors)

    def mcp_servers(self) -> "APIRouter":
        from parlour.http.mcp_servers.endpoints import router
        from parlour.http.mcp_servers.mapping import McpServerForm

        host, tools = self.host, self.host.tools
        form = McpServerForm(tools.mcp_book, host.secrets, tools.reserved, self.settings.mcp.allow_unsandboxed)
        return router(tools.mcp_book, tools.mcp_servers, form, host.cursors, host.ids, host.clock)

    def conversations(self) -> "APIRouter":
        from parlour.core.store.history import History
        from parlour.http.conversations.endpoints import router
        from parlour.http.conversations.search import ConversationSearch

        host, core = self.host, self.host.core
        history = History(host.journal, host.cursors)
        return router(
            host.journal,
            self._pages(),
            history,
            core.conversations,
            core.default_agents,
            core.erasing,
            ConversationSearch(host.journal, host.cursors),
            host.ids,
            host.clock,
        )

    def audit(self) -> "APIRouter":
        from parlour.http.audit.endpoints import router

        return router(self._pages())

    def feedback(self) -> "APIRouter":
        from parlour.http.feedback.endpoints import router

        return router(self._pages())

    def artifacts(self) -> "APIRouter":
        from parlour.http.artifacts.access import ArtifactAccess
        from parlour.http.artifacts.endpoints import router

        return router(self.host.core.artifacts, ArtifactAccess(self.host.journal))

    def files(self) -> "APIRouter":
        from parlour.http.artifacts.access import ArtifactAccess
        from parlour.http.files.endpoints import router

        journal, kept = self.host.journal, int(self.settings.artifacts.unclaimed_upload_hours * 3_600_000)
        access = ArtifactAccess(journal)
        return router(self.host.core.artifacts, access, journal, self.host.clock, self.uploads, kept)

    def _pages(self) -> "Pages":
        from parlour.http.pagination import Pages

        return Pages(self.host.journal, self.host.cursors)

    def _targets(self) -> "Targets":
        from parlour.http.target_validation import Targets

        return Targets(self.host.core.agents, self.host.core.bots)

    def _model_forms(self) -> "ModelForms":
        from parlour.http.models.mapping import ModelForms

        return ModelForms(self.host.models.book, self.host.models.catalogue, self.host.secrets)

    def _plugin_status(self, plugin_id: str) -> str:
        supervisor = self.host.runtime.supervisors().get(plugin_id)
        return supervisor.status if supervisor else "stopped"
