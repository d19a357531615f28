"""Builds the Box subsystem: the connection to the Box, its tools, and the service for operators."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from parlour.core.box.messages import BoxConfig, E2bAccount
from parlour.core.model.agent import Agent
from parlour.core.observability.metrics import Metrics
from parlour.core.redaction import Redactor
from parlour.plugin_runtime.remote.address import read_token
from parlour.providers.box.attachments import BoxAttachments
from parlour.providers.box.audit import BoxAudit
from parlour.providers.box.callers import BoxCallers
from parlour.providers.box.commands import BoxCommands
from parlour.providers.box.connection import BoxConnection
from parlour.providers.box.connector import box_at, start_box
from parlour.providers.box.file_tools import BoxFileTools
from parlour.providers.box.files import BoxFiles
from parlour.providers.box.output_artifacts import OutputArtifacts
from parlour.providers.box.server_processes import BoxServers
from parlour.providers.box.service import BoxService
from parlour.providers.box.skill_tools import SkillTools
from parlour.providers.box.skill_wheels import SkillWheels
from parlour.providers.box.skills import BoxSkills
from parlour.providers.box.tools import BoxTools
from parlour.providers.box.trial import BoxTrial
from parlour.providers.box.workspace_deletion import WorkspaceDeletion, WorkspaceUses
from parlour_sdk.values import dataclass

from .box_settings import BoxSettings
from .core import Core
from .core_ports import CorePorts
from .data_directory import DataDirectory
from .settings import HostSettings
from .skills import SkillSubsystem

READY_SECONDS = 10.0
"""Seconds that the start of the Host, or saving an agent, waits for a Box that is starting."""


@dataclass(frozen=True, slots=True)
class BoxSubsystem:
    """The Box of a Host."""

    connection: BoxConnection
    tools: BoxTools
    skill_tools: SkillTools
    servers: BoxServers
    workspaces: WorkspaceDeletion
    service: BoxService
    trial: BoxTrial
    skills: SkillSubsystem

    async def prepare(self, *agents: Agent) -> None:
        """Starts the Box if one of the agents uses it, and waits until its tools can be offered or can't be."""
        if self.skills.is_used or any(uses_box(agent) for agent in agents):
            await self.connection.wait_until_known(READY_SECONDS)


def uses_box(agent: Agent) -> bool:
    return agent.enabled and bool(agent.box_policy.get("tools"))


def read_box_token(settings: BoxSettings, redactor: Redactor) -> str:
    """Returns the token of a Box elsewhere. Its file is read each time, so that it can be replaced."""
    if settings.token_file is not None:
        return read_token(settings.token_file, redactor)
    token = settings.token.get_secret_value()
    redactor.add_secret(token)
    return token


def box_config(settings: HostSettings, data: Path) -> BoxConfig:
    """Returns the configuration of a Box beside the Host, whose data directory is `data`."""
    box = settings.box
    return BoxConfig(
        backend=box.backend,
        image=box.local.image,
        bubblewrap=str(settings.plugins.bubblewrap or ""),
        root=str(box.local.host_root or data / "box" / "workspaces"),
        skills_root=str(box.local.skills_root or data / "box" / "skills"),
        wheels=str(box.local.wheels or data / "box" / "wheels"),
        mount_roots=[str(root) for root in box.local.allowed_mount_roots],
        hidden=[str(data)],
        idle_seconds=box.idle_seconds,
        max_sessions=box.max_sessions,
        workspace_days=box.workspace_days,
        workspace_mb=box.local.workspace_quota_mb,
        quota=box.local.quota,
        e2b=E2bAccount(
            api_key=box.e2b.api_key.get_secret_value(),
            api_url=box.e2b.api_url,
            sandbox_url=box.e2b.sandbox_url,
            template=box.e2b.template,
        ),
    )


@asynccontextmanager
async def open_box(
    settings: HostSettings,
    directory: DataDirectory,
    core: Core,
    ports: CorePorts,
    skills: SkillSubsystem,
    metrics: Metrics,
) -> AsyncIterator[BoxSubsystem]:
    """Opens the Box. Its process starts with the first need."""
    box = settings.box
    config = box_config(settings, directory.path)
    ports.redactor.add_secret(config.e2b.api_key)
    opening = box_at(box.endpoint, lambda: read_box_token(box, ports.redactor)) if box.endpoint else start_box
    connection = BoxConnection(config, ports.ids.new(), box.enabled, opening)

    async def unavailable_reason() -> str:
        await connection.wait_until_known(READY_SECONDS)
        return connection.unavailable_reason()

    await skills.open(ports, core, unavailable_reason, lambda: connection.status.state == "ready")
    box_skills = BoxSkills(skills.parts.repository, skills.parts.packages, skills.parts.activations, connection)
    service = BoxService(connection, box_skills, ports.clock, metrics)
    files = BoxFiles(service)
    callers = BoxCallers(core.sessions, core.agents, box_skills, ports.journal, box.force_template)
    wheels = SkillWheels(service, files, box_skills, box.download_wheels)
    commands = BoxCommands(service, box_skills, wheels, OutputArtifacts(core.artifacts, ports.journal, ports.clock))
    tools = BoxTools(
        connection,
        lambda: skills.is_used or any(uses_box(agent) for agent in core.agents.all()),
        callers,
        commands,
        BoxFileTools(files),
        BoxAttachments(files, core.artifacts, ports.journal, ports.clock),
        BoxAudit(ports.journal, WorkspaceUses(ports.clock, box.workspace_days), ports.clock),
    )
    authoring = SkillTools(skills.parts.service, callers, files, lambda: connection.is_usable, ports.clock)
    trial = BoxTrial(connection, commands, ports.clock)
    workspaces = WorkspaceDeletion(connection, ports.journal, core.jobs)
    core.jobs.register(workspaces)
    try:
        yield BoxSubsystem(connection, tools, authoring, BoxServers(connection), workspaces, service, trial, skills)
    finally:
        await connection.close()
