"""Builds the routers of the HTTP interface with the dependencies of their endpoints.

This module imports FastAPI and every endpoint, so a Host imports it with the first request that needs them.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter

from parlour.app.host import Host
from parlour.app.runtime_settings import declared_sections
from parlour.app.settings import HostSettings
from parlour.app.skills import fetch_from_git
from parlour.core.access.browser_sessions import BrowserSessions
from parlour.core.access.keys import ApiKeys
from parlour.core.access.users import UserAccounts
from parlour.core.cluster.owner_rows import NO_HOST
from parlour.core.config.default_model import DefaultModelAssigner
from parlour.core.config.resource_usage import ResourceReferences
from parlour.core.ingest.inbound_webhooks import InboundWebhookReceiver
from parlour.core.message_policy.references import PolicyReferences
from parlour.core.model.ids import PipelineId, PluginId
from parlour.core.models.reservations import BudgetUses
from parlour.core.observability.explain.explanations import Explanations
from parlour.core.pagination import Cursors
from parlour.core.remote.executions import RemoteExecutions
from parlour.core.remote.queue import RemoteRunQueue
from parlour.core.remote.workers import RemoteWorkers
from parlour.http import adapters, audit, info, openapi, runners, stats, tools
from parlour.http.accounts import endpoints as accounts
from parlour.http.accounts.throttle import LoginThrottle
from parlour.http.agents import endpoints as agents
from parlour.http.agents.connection_test import RunnerConnectionTest
from parlour.http.agents.mapping import AgentMapper
from parlour.http.allowed_hosts import AllowedHosts
from parlour.http.approvals import endpoints as approvals
from parlour.http.artifacts import endpoints as artifacts
from parlour.http.artifacts.access import ArtifactAccess
from parlour.http.bots import endpoints as bots
from parlour.http.bots import route_endpoints as bot_routes
from parlour.http.bots.mapping import BotMapper
from parlour.http.bots.route_mapping import RouteMapper
from parlour.http.box import endpoints as box
from parlour.http.box.endpoints import BoxLimits
from parlour.http.budgets import endpoints as budgets
from parlour.http.chat import endpoints as chat
from parlour.http.chat.missed_frames import MissedFrames
from parlour.http.chat.presence import ChatConnections, ChatLimits
from parlour.http.chat.session import ChatSessions
from parlour.http.chat.sockets import ChatSockets
from parlour.http.cluster import endpoints as cluster
from parlour.http.conversations import endpoints as conversations
from parlour.http.conversations.endpoints import ConversationDeletion
from parlour.http.conversations.search import ConversationSearch
from parlour.http.default_agents import endpoints as default_agents
from parlour.http.default_agents.mapping import DefaultAgentMapper
from parlour.http.events import endpoints as events
from parlour.http.events.service import EventService
from parlour.http.feedback import endpoints as feedback
from parlour.http.files import endpoints as files
from parlour.http.health import endpoints as health
from parlour.http.jobs import endpoints as jobs
from parlour.http.keys import endpoints as keys
from parlour.http.knowledge import endpoints as knowledge_bases
from parlour.http.knowledge import file_endpoints as knowledge_files
from parlour.http.knowledge.access import KnowledgeAccess
from parlour.http.knowledge.file_endpoints import FileUploads
from parlour.http.knowledge.plugins import PluginKnowledge
from parlour.http.live import endpoints as live
from parlour.http.mcp_servers import endpoints as mcp_servers
from parlour.http.mcp_servers.mapping import McpServerMapper
from parlour.http.memories import endpoints as memories
from parlour.http.message_policies import endpoints as message_policies
from parlour.http.metrics import endpoints as metrics
from parlour.http.models import endpoints as models
from parlour.http.models import provider_endpoints as model_providers
from parlour.http.models.connection_test import ModelTest
from parlour.http.models.endpoints import ModelAgents
from parlour.http.models.mapping import ModelMapper
from parlour.http.object_limits import ObjectLimit
from parlour.http.pagination import Pages
from parlour.http.pipelines import endpoints as pipelines
from parlour.http.pipelines.endpoints import PipelineMapper
from parlour.http.platform_callbacks import endpoints as platform_callbacks
from parlour.http.previews import endpoints as previews
from parlour.http.previews.service import PreviewChats
from parlour.http.principals import Authenticator
from parlour.http.runs import endpoints as runs
from parlour.http.runs.queries import RunListing
from parlour.http.schedules import endpoints as schedules
from parlour.http.settings import endpoints as runtime_settings
from parlour.http.skills import endpoints as skills
from parlour.http.skills.sources import SkillSources
from parlour.http.stats import UsageByDay
from parlour.http.target_validation import TargetValidator
from parlour.http.users import endpoints as users
from parlour.http.webhooks import endpoints as webhooks
from parlour.http.webhooks.endpoints import WebhookMapper
from parlour.http.word_lists import endpoints as word_lists
from parlour.http.workers import endpoints as workers
from parlour.http.workers.connections import WorkerConnections
from parlour.http.workers.session import WorkerServices
from parlour.http.workers.sockets import WorkerSockets
from parlour_sdk.values import dataclass

from .connection_limits import ConnectionLimiter
from .host_info import callback_check, gauges, host_info
from .plugin_routes import plugin_routers


@dataclass(frozen=True, slots=True)
class RouterBuilder:
    """Builds all routers from the objects that they share."""

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

    def groups(self) -> Iterator[list[APIRouter]]:
        """Yields the routers in the order of the OpenAPI document, in groups that are built one by one."""
        for build_group in (
            self._outside_api,
            self._about_host,
            self._accounts,
            self._event_sources,
            self._runs,
            self._agents_and_bots,
            self._models,
            self._knowledge,
            self._plugins_and_tools,
            self._records,
        ):
            yield build_group()

    def _outside_api(self) -> list[APIRouter]:
        host = self.host
        return [
            health.router(host.pending_start_steps),
            metrics.router(host.metrics, partial(gauges, host, self.limits)),
            platform_callbacks.router(host.bots.hook, host.bots.takes_sockets, callback_check(host).answer),
        ]

    def _about_host(self) -> list[APIRouter]:
        host, core = self.host, self.host.core
        usage = UsageByDay(host.statistics, core.days, core.agents, host.models.repository)
        return [
            openapi.router(),
            info.router(partial(host_info, host)),
            runtime_settings.router(host.live_settings, declared_sections(), host.clock),
            live.router(host.live_feed, self.authenticator),
            stats.router(host.statistics, usage, host.clock),
            cluster.router(host.journal, host.cluster.host_id if host.cluster else NO_HOST, host.clock),
        ]

    def _accounts(self) -> list[APIRouter]:
        host = self.host

        def count_refused(reason: str) -> None:
            host.metrics.count("parlour_throttled_logins_total", ("reason", reason))

        throttle, path = LoginThrottle(host.clock, count_refused), self.settings.http.prefix or "/"
        return [
            accounts.router(self.users, self.logins, self.names, throttle, self.setup_token, path),
            users.router(self.users, host.core.model_calls, host.cursors),
            keys.router(self.keys, host.cursors, host.clock),
        ]

    def _event_sources(self) -> list[APIRouter]:
        host, core, http = self.host, self.host.core, self.settings.http
        targets = TargetValidator(core.agents, core.bots)
        calls = InboundWebhookReceiver(core.gateway, host.secrets, host.ids, host.clock)
        mapper = WebhookMapper(targets, host.secrets, http.public_address)
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
        return [
            schedules.router(core.schedules, core.scheduler, targets, host.cursors, host.ids, host.clock),
            webhooks.router(core.inbound_webhooks, calls, mapper, host.cursors, host.ids, host.clock),
            events.router(self.event_service, self._pages(), Explanations(host.journal, host.clock)),
            chat.router(host.journal, sessions, sockets, self._pages(), host.cursors, host.clock),
        ]

    def _runs(self) -> list[APIRouter]:
        host, core = self.host, self.host.core
        listing = RunListing(host.journal, core.agents, host.cursors)
        return [
            approvals.router(host.journal, core.approvals, self._pages()),
            runs.router(host.journal, core.control, core.reruns, listing, self._pages(), host.clock),
            workers.router(*self._workers()),
            jobs.router(core.jobs, self._pages(), host.clock),
        ]

    def _workers(self) -> tuple[RemoteWorkers, RemoteRunQueue, WorkerSockets, Cursors]:
        host, core, connections = self.host, self.host.core, WorkerConnections()
        executions = RemoteExecutions(core.remote_queue)
        services = WorkerServices(
            self.keys, core.workers, core.remote_queue, executions, core.gate, host.metrics, host.clock
        )
        sockets = WorkerSockets(services, self.authenticator, connections)
        return core.workers, core.remote_queue, sockets, host.cursors

    def _agents_and_bots(self) -> list[APIRouter]:
        host, core = self.host, self.host.core
        limits = self.settings.limits
        references = PolicyReferences(core.word_lists, host.models.repository)
        agent_mapper = AgentMapper(core.registry, references, host.secrets)
        runner_test = RunnerConnectionTest(core.registry, host.runtime, host.secrets)
        bot_mapper = BotMapper(host.catalogue, host.secrets)
        route_mapper = RouteMapper(core.agents, core.pipelines, references, host.plugins, host.secrets)
        default_mapper = DefaultAgentMapper(core.agents, core.bots, host.catalogue)
        return [
            agents.router(
                core.agents,
                agent_mapper,
                runner_test,
                host.box.prepare,
                ObjectLimit("agents", limits.agents, lambda: len(core.agents.all())),
                host.cursors,
                host.ids,
                host.clock,
            ),
            adapters.router(host.catalogue, host.cursors),
            bots.router(
                core.bots,
                bot_mapper,
                host.bots,
                core.routes,
                core.agents,
                host.catalogue,
                callback_check(host),
                ObjectLimit("bots", limits.bots, lambda: len(core.bots.all())),
                host.cursors,
                host.ids,
                host.clock,
            ),
            bot_routes.router(core.bots, core.routes, route_mapper, core.router, core.subscriptions, host.clock),
            default_agents.router(core.default_agents, default_mapper, host.cursors, host.ids, host.clock),
            runners.router(core.registry, self._plugin_status, host.cursors),
            memories.router(core.memory, self._pages(), host.clock),
            message_policies.router(references, core.filters),
            pipelines.router(
                core.pipelines,
                PipelineMapper(core.agents, references, core.subscriptions.asked_plugins),
                self._users_of_pipeline,
                core.filters,
                host.cursors,
                host.ids,
                host.clock,
            ),
            word_lists.router(core.word_lists, self._policies, host.cursors, host.ids, host.clock),
            previews.router(
                core.bots,
                core.pipelines,
                PreviewChats(core.gateway, core.conversations, host.ids, host.clock),
                self.event_service,
            ),
        ]

    def _users_of_pipeline(self, pipeline_id: PipelineId) -> Iterator[str]:
        """Yields the names of the bots whose routes use a pipeline."""
        core = self.host.core
        for bot in core.bots.all():
            used = (route.handler_config.get("pipeline_id") for route in core.routes.in_user_order(bot.bot_id))
            if pipeline_id in used:
                yield bot.name

    def _policies(self) -> Iterator[Mapping[str, Any]]:
        """Yields the message policies of agents and routes."""
        core = self.host.core
        yield from (agent.message_policy for agent in core.agents.all())
        yield from (pipeline.message_policy for pipeline in core.pipelines.all())
        for bot in core.bots.all():
            yield from (
                route.handler_config.get("message_policy", {}) for route in core.routes.in_user_order(bot.bot_id)
            )

    def _models(self) -> list[APIRouter]:
        host, core, catalogue = self.host, self.host.core, self.host.models.catalogue
        mapper = ModelMapper(host.models.repository, catalogue, host.secrets)
        references = ResourceReferences(core.agents, core.registry, "models")
        users = ModelAgents(core.agents, DefaultModelAssigner(host.journal, core.agents), references, host.clock)
        return [
            model_providers.router(host.models.repository, catalogue, mapper, host.cursors, host.ids, host.clock),
            models.router(
                host.models.repository,
                mapper,
                ModelTest(host.models.models),
                users,
                host.cursors,
                host.ids,
                host.clock,
            ),
            budgets.router(core.budgets, BudgetUses(host.journal, core.days), host.cursors, host.ids, host.clock),
        ]

    def _knowledge(self) -> list[APIRouter]:
        host, core = self.host, self.host.core
        access = KnowledgeAccess(host.knowledge)
        references = ResourceReferences(core.agents, core.registry, "knowledge_bases")
        plugins = PluginKnowledge(host.knowledge.components, host.secrets)
        uploads = FileUploads(access, plugins, core.artifacts, ArtifactAccess(host.journal), self.uploads)
        return [
            knowledge_bases.router(
                access,
                references,
                host.knowledge,
                plugins,
                host.knowledge.embedding_problem,
                ObjectLimit("knowledge_bases", self.settings.limits.knowledge_bases, lambda: len(list(access.all()))),
                host.cursors,
                host.ids,
                host.clock,
            ),
            knowledge_files.router(access, uploads, core.artifacts, core.jobs, self._pages(), host.clock),
        ]

    def _plugins_and_tools(self) -> list[APIRouter]:
        host, mcp, limits = self.host, self.host.tools, self.settings.box
        mapper = McpServerMapper(
            mcp.mcp_repository, host.secrets, mcp.reserved_namespaces, self.settings.mcp.allow_unsandboxed
        )
        return [
            *plugin_routers(host, self.settings, self.uploads),
            tools.router(mcp.registry, host.cursors),
            box.router(
                host.box.service,
                host.box.trial,
                BoxLimits(limits.idle_seconds, limits.max_sessions, limits.force_template),
                host.journal,
                self._pages(),
                host.clock,
            ),
            skills.router(
                host.box.skills.parts.service, SkillSources(self.uploads, fetch_from_git), host.cursors, host.clock
            ),
            mcp_servers.router(mcp.mcp_repository, mcp.mcp_servers, mapper, host.cursors, host.ids, host.clock),
        ]

    def _records(self) -> list[APIRouter]:
        host, core, access = self.host, self.host.core, ArtifactAccess(self.host.journal)
        deletion = ConversationDeletion(
            core.conversations,
            core.default_agents,
            core.conversation_eraser,
            (host.box.workspaces, host.program_folders),
            host.clock,
        )
        unclaimed_ms = int(self.settings.artifacts.unclaimed_upload_hours * 3_600_000)
        return [
            conversations.router(
                host.journal,
                self._pages(),
                ConversationSearch(host.journal, host.cursors),
                core.conversations,
                deletion,
                host.ids,
                host.clock,
            ),
            audit.router(self._pages()),
            feedback.router(self._pages()),
            artifacts.router(core.artifacts, access),
            files.router(core.artifacts, access, host.journal, host.clock, self.uploads, unclaimed_ms),
        ]

    def _pages(self) -> Pages:
        return Pages(self.host.journal, self.host.cursors)

    def _plugin_status(self, plugin_id: PluginId) -> str:
        supervisor = self.host.runtime.supervisors().get(plugin_id)
        return supervisor.status if supervisor else "stopped"
