"""Lists the domains of the HTTP interface: their path prefixes, and the dependencies of their endpoints.

Each method imports the endpoints of its domain, and is called at the first request for that domain.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from parlour.app.host import Host
from parlour.app.runtime_settings import declared_sections
from parlour.app.settings import HostSettings
from parlour.core.access.browser_sessions import BrowserSessions
from parlour.core.access.keys import ApiKeys
from parlour.core.access.users import UserAccounts
from parlour.http.allowed_hosts import AllowedHosts
from parlour.http.domain import Domain, api_domain
from parlour.http.events.service import EventService
from parlour.http.principals import Authenticator
from parlour_sdk.values import dataclass

from .connection_limits import ConnectionLimiter
from .host_info import gauges, host_info

if TYPE_CHECKING:
    from fastapi import APIRouter

    from parlour.http.models.mapping import ModelMapper
    from parlour.http.pagination import Pages
    from parlour.http.target_validation import TargetValidator


@dataclass(frozen=True, slots=True)
class DomainRouters:
    """Builds the routers of all domains."""

    settings: HostSettings
    host: Host
    authenticator: Authenticator
    keys: ApiKeys
    users: UserAccounts
    logins: BrowserSessions
    names: AllowedHosts
    event_service: EventService
    uploads: Path
    setup_token: str
    limits: ConnectionLimiter | None

    def all(self) -> list[Domain]:
        """Returns the domains in the order of the OpenAPI document."""
        return [
            Domain(("/healthz", "/readyz"), self.health),
            Domain(("/metrics",), self.metrics),
            Domain(("/hooks",), self.hooks),
            api_domain("openapi.json", self.openapi),
            api_domain("info", self.info),
            api_domain("settings", self.runtime_settings),
            api_domain("live", self.live),
            api_domain("stats", self.stats),
            api_domain("auth", self.accounts),
            api_domain("users", self.people),
            api_domain("api-keys", self.api_keys),
            api_domain("schedules", self.schedules),
            api_domain("webhooks", self.webhooks),
            api_domain("events", self.events),
            api_domain("agents", self.chat),
            api_domain("approvals", self.approvals),
            api_domain("runs", self.runs),
            api_domain("runtimes", self.runtimes),
            api_domain("agents", self.agents),
            api_domain("adapters", self.adapters),
            api_domain("bots", self.bots),
            api_domain("bots", self.bot_routes),
            api_domain("default-agents", self.default_agents),
            api_domain("runners", self.runners),
            api_domain("model-kinds model-providers", self.model_providers),
            api_domain("models", self.models),
            api_domain("budgets", self.budgets),
            api_domain("plugins", self.plugins),
            api_domain("tools", self.tools),
            api_domain("mcp-servers", self.mcp_servers),
            api_domain("conversations", self.conversations),
            api_domain("audit", self.audit),
            api_domain("feedback", self.feedback),
            api_domain("artifacts", self.artifacts),
            api_domain("files", self.files),
        ]

    def health(self) -> "APIRouter":
        from parlour.http.health.endpoints import router

        return router(self.host.pending_start_steps)

    def metrics(self) -> "APIRouter":
        from parlour.http.metrics.endpoints import router

        return router(self.host.metrics, partial(gauges, self.host, self.limits))

    def hooks(self) -> "APIRouter":
        from parlour.http.platform_callbacks.endpoints import router

        return router(self.host.bots.hook, self.host.bots.takes_sockets)

    def openapi(self) -> "APIRouter":
        from parlour.http.openapi import router

        return router()

    def info(self) -> "APIRouter":
        from parlour.http.info import router

        return router(partial(host_info, self.host))

    def runtime_settings(self) -> "APIRouter":
        from parlour.http.settings.endpoints import router

        return router(self.host.live_settings, declared_sections(), self.host.clock)

    def live(self) -> "APIRouter":
        from parlour.http.live.endpoints import router

        return router(self.host.live_feed, self.authenticator)

    def stats(self) -> "APIRouter":
        from parlour.http.stats import UsageByDay, router

        host, core = self.host, self.host.core
        usage = UsageByDay(host.statistics, core.days, core.agents, host.models.repository)
        return router(host.statistics, usage, host.clock)

    def accounts(self) -> "APIRouter":
        from parlour.http.accounts.endpoints import router
        from parlour.http.accounts.throttle import LoginThrottle

        def refused(reason: str) -> None:
            self.host.metrics.count("parlour_throttled_logins_total", ("reason", reason))

        throttle, path = LoginThrottle(self.host.clock, refused), self.settings.http.prefix or "/"
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
        from parlour.core.ingest.inbound_webhooks import InboundWebhookReceiver
        from parlour.http.webhooks.endpoints import WebhookMapper, router

        host, core = self.host, self.host.core
        calls = InboundWebhookReceiver(core.gateway, host.secrets, host.ids, host.clock)
        form = WebhookMapper(self._targets(), host.secrets, self.settings.http.public_address)
        return router(core.inbound_webhooks, calls, form, host.cursors, host.ids, host.clock)

    def events(self) -> "APIRouter":
        from parlour.core.observability.explain.explanations import Explanations
        from parlour.http.events.endpoints import router

        return router(self.event_service, self._pages(), Explanations(self.host.journal, self.host.clock))

    def chat(self) -> "APIRouter":
        from parlour.http.chat.endpoints import router
        from parlour.http.chat.missed_frames import MissedFrames
        from parlour.http.chat.presence import ChatConnections, ChatLimits
        from parlour.http.chat.session import ChatSessions
        from parlour.http.chat.sockets import ChatSockets

        host, core, http = self.host, self.host.core, self.settings.http
        sessions = ChatSessions(core.agents, core.conversations, core.gateway, host.ids, host.clock)
        sockets = ChatSockets(
            sessions,
            ChatConnections(host.clock, ChatLimits(http.chat_sockets, http.chat_send_seconds)),
            self.authenticator,
            core.feed,
            MissedFrames(host.journal),
            core.control,
            core.approvals,
        )
        return router(host.journal, sessions, sockets, self._pages(), host.cursors, host.clock)

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
        from parlour.http.runtimes import router

        return router(self.host.core.workers, self.host.cursors)

    def agents(self) -> "APIRouter":
        from parlour.http.agents.endpoints import router
        from parlour.http.agents.mapping import AgentMapper

        host, core = self.host, self.host.core
        return router(core.agents, AgentMapper(core.registry, host.secrets), host.cursors, host.ids, host.clock)

    def adapters(self) -> "APIRouter":
        from parlour.http.adapters import router

        return router(self.host.catalogue, self.host.cursors)

    def bots(self) -> "APIRouter":
        from parlour.http.bots.endpoints import router
        from parlour.http.bots.mapping import BotMapper

        host, core = self.host, self.host.core
        form = BotMapper(host.catalogue, host.secrets)
        return router(core.bots, form, host.bots, core.routes, core.agents, host.cursors, host.ids, host.clock)

    def bot_routes(self) -> "APIRouter":
        from parlour.http.bots.route_endpoints import router
        from parlour.http.bots.route_mapping import RouteMapper

        host, core = self.host, self.host.core
        form = RouteMapper(core.agents, host.plugins, host.secrets)
        return router(core.bots, core.routes, form, core.router, core.subscriptions, host.clock)

    def default_agents(self) -> "APIRouter":
        from parlour.http.default_agents.endpoints import router
        from parlour.http.default_agents.mapping import DefaultAgentMapper

        host, core = self.host, self.host.core
        form = DefaultAgentMapper(core.agents, core.bots, host.catalogue)
        return router(core.default_agents, form, host.cursors, host.ids, host.clock)

    def runners(self) -> "APIRouter":
        from parlour.http.runners import router

        return router(self.host.core.registry, self._plugin_status, self.host.cursors)

    def model_providers(self) -> "APIRouter":
        from parlour.http.models.provider_endpoints import router

        host, models = self.host, self.host.models
        return router(models.repository, models.catalogue, self._model_forms(), host.cursors, host.ids, host.clock)

    def models(self) -> "APIRouter":
        from parlour.core.config.default_model import DefaultModelAssigner
        from parlour.core.config.model_usage import ModelReferences
        from parlour.http.models.connection_test import ModelTest
        from parlour.http.models.endpoints import ModelAgents, router

        host, core = self.host, self.host.core
        default_agent = DefaultModelAssigner(host.journal, core.agents)
        references = ModelReferences(core.agents, core.registry)
        return router(
            host.models.repository,
            self._model_forms(),
            ModelTest(host.models.models),
            ModelAgents(core.agents, default_agent, references, host.clock),
            host.cursors,
            host.ids,
            host.clock,
        )

    def budgets(self) -> "APIRouter":
        from parlour.core.models.reservations import BudgetUses
        from parlour.http.budgets.endpoints import router

        host, core = self.host, self.host.core
        return router(core.budgets, BudgetUses(host.journal, core.days), host.cursors, host.ids, host.clock)

    def plugins(self) -> "APIRouter":
        from parlour.http.plugins.audit import PluginAudit
        from parlour.http.plugins.endpoints import router

        host = self.host
        return router(host.plugins, self.uploads, PluginAudit(host.core.audit_log, host.clock), host.cursors)

    def tools(self) -> "APIRouter":
        from parlour.http.tools import router

        return router(self.host.tools.registry, self.host.cursors)

    def mcp_servers(self) -> "APIRouter":
        from parlour.http.mcp_servers.endpoints import router
        from parlour.http.mcp_servers.mapping import McpServerMapper

        host, tools = self.host, self.host.tools
        form = McpServerMapper(
            tools.mcp_repository, host.secrets, tools.reserved_namespaces, self.settings.mcp.allow_unsandboxed
        )
        return router(tools.mcp_repository, tools.mcp_servers, form, host.cursors, host.ids, host.clock)

    def conversations(self) -> "APIRouter":
        from parlour.http.conversations.endpoints import ConversationDeletion, router
        from parlour.http.conversations.search import ConversationSearch

        host, core = self.host, self.host.core
        deletion = ConversationDeletion(core.conversations, core.default_agents, core.conversation_eraser, host.clock)
        search = ConversationSearch(host.journal, host.cursors)
        return router(host.journal, self._pages(), search, core.conversations, deletion, host.ids, host.clock)

    def audit(self) -> "APIRouter":
        from parlour.http.audit import router

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

    def _targets(self) -> "TargetValidator":
        from parlour.http.target_validation import TargetValidator

        return TargetValidator(self.host.core.agents, self.host.core.bots)

    def _model_forms(self) -> "ModelMapper":
        from parlour.http.models.mapping import ModelMapper

        return ModelMapper(self.host.models.repository, self.host.models.catalogue, self.host.secrets)

    def _plugin_status(self, plugin_id: str) -> str:
        supervisor = self.host.runtime.supervisors().get(plugin_id)
        return supervisor.status if supervisor else "stopped"
