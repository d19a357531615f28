"""Builds the plugin subsystem from the settings: plugins run beside the Host, or in a standalone plugin runtime."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Protocol

from parlour.core.actions.processes import GrantedProcesses, NoProcesses
from parlour.core.backoff import Backoff
from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import DeletePluginData, PluginManager, PluginManifestReport
from parlour.core.model.ports import Clock, PluginCaller
from parlour.core.redaction import Redactor
from parlour.isolation.reaper import ReaperProcess
from parlour.plugin_runtime.manager import LocalPluginManager
from parlour.plugin_runtime.process.launcher import Launcher
from parlour.plugin_runtime.process.log_buffer import LogBuffer
from parlour.plugin_runtime.process.log_file import LogFile
from parlour.plugin_runtime.process.sandbox import SandboxState, choose_launcher
from parlour.plugin_runtime.programs.commands import ProgramFinder
from parlour.plugin_runtime.programs.folders import ProgramFolders
from parlour.plugin_runtime.programs.service import ProgramLimits, Programs
from parlour.plugin_runtime.reconciler import PluginReconciler
from parlour.plugin_runtime.start_preparation import StartPreparer
from parlour.plugin_runtime.store import InstalledVersion
from parlour.plugin_runtime.supervision.connection import PluginCallHandler
from parlour.plugin_runtime.supervision.local_runtime import EmbeddedRuntime
from parlour.plugin_runtime.supervision.policy import HealthPolicy, ResourceLimits, RestartPolicy, SupervisionPolicy
from parlour.plugin_runtime.supervision.status import PluginStatusFile
from parlour_sdk.values import dataclass
from parlour_sdk.wire import WireLimits

from .data_directory import DataDirectory
from .installation import open_install_services
from .remote_settings import RuntimeSettings
from .settings import HostSettings, PluginSettings

logger = logging.getLogger(__name__)

OnPluginDiscovered = Callable[[PluginId, str, PluginManifestReport], None]
"""Called with a plugin, its version and its manifest when it is discovered."""


class SupervisedPlugin(Protocol):
    """A plugin whose process is supervised."""

    @property
    def status(self) -> str: ...

    @property
    def is_ready(self) -> bool: ...


class PluginRuntime(PluginCaller, Protocol):
    """A plugin runtime, embedded or standalone."""

    def serve(self, actions: PluginCallHandler) -> None:
        """Sets the actions of the core, which is built on this runtime and calls it too."""
        ...

    def supervisors(self) -> Mapping[PluginId, SupervisedPlugin]: ...

    async def close(self) -> None: ...


class RefreshablePluginManager(PluginManager, Protocol):
    """Plugin manager that can be asked to reread what is installed."""

    async def refresh(self) -> None:
        """Rereads what is installed, and returns when each plugin runs or its failure is known."""
        ...


def _none() -> str:
    return ""


async def _nothing_to_close() -> None: ...


@dataclass(frozen=True, slots=True)
class PluginSubsystem:
    """The plugin runtime of a Host and the manager of its plugins."""

    runtime: PluginRuntime
    plugins: RefreshablePluginManager
    notice: str
    """Message for the operator at the start; empty if all is well."""
    programs: GrantedProcesses = field(default_factory=NoProcesses)
    """Programs that are started for plugins."""
    close_programs: Callable[[], Awaitable[None]] = _nothing_to_close
    unavailable_reason: Callable[[], str] = _none
    """Returns why the runtime can't be used at the moment; empty if it can."""


@dataclass(frozen=True, slots=True)
class LocalPlugins:
    """A plugin runtime in this process and the manager of its plugins."""

    runtime: EmbeddedRuntime
    manager: LocalPluginManager
    notice: str
    programs: Programs


async def open_plugins(
    settings: HostSettings,
    directory: DataDirectory,
    clock: Clock,
    version: str,
    redactor: Redactor,
    discovered: OnPluginDiscovered,
    removed: Callable[[PluginId], None],
    forget: DeletePluginData,
) -> PluginSubsystem:
    """Opens the standalone plugin runtime that the settings name, otherwise an embedded one."""
    if settings.runtime.url:
        return _open_remote_plugins(settings, directory, clock, version, redactor, discovered, removed, forget)

    def found(plugin: InstalledVersion, offer: PluginManifestReport) -> None:
        discovered(plugin.plugin_id, plugin.version, offer)

    status = PluginStatusFile(directory.plugin_status)
    local = await open_local_plugins(settings, directory, clock, version, redactor, found, removed, forget, status)
    return PluginSubsystem(
        local.runtime, local.manager, local.notice, programs=local.programs, close_programs=local.programs.close
    )


async def open_local_plugins(
    settings: HostSettings,
    directory: DataDirectory,
    clock: Clock,
    version: str,
    redactor: Redactor,
    discovered: Callable[[InstalledVersion, PluginManifestReport], None],
    removed: Callable[[PluginId], None],
    forget: DeletePluginData,
    status: PluginStatusFile,
) -> LocalPlugins:
    """Opens a plugin runtime that starts plugins as child processes."""
    installation = open_install_services(settings, directory, clock)
    launcher, sandbox = await _sandbox(settings.plugins, directory)
    reaper = ReaperProcess()
    programs = _programs(settings, directory, launcher, reaper)
    runtime = EmbeddedRuntime(
        installation.folder,
        launcher,
        StartPreparer(installation.folder, installation.builds, directory.plugin_data),
        version,
        discovered,
        removed,
        status,
        _logs(settings.plugins, directory, redactor),
        reaper,
        plugin_policy(settings.plugins),
    )
    reconciler = PluginReconciler(
        installation.folder,
        installation.environments,
        runtime,
        directory.plugin_data,
        partial(_forget, forget, programs),
        clock,
    )
    manager = LocalPluginManager(
        installation.folder, installation.builds, installation.installer, runtime, reconciler, sandbox
    )
    return LocalPlugins(runtime, manager, sandbox.notice, programs)


def _programs(settings: HostSettings, directory: DataDirectory, launcher: Launcher, reaper: ReaperProcess) -> Programs:
    rules = settings.programs
    limits = replace(plugin_policy(settings.plugins).resource_limits, data_mb=rules.workspace_mb)
    return Programs(
        launcher,
        ProgramFinder(rules.folders),
        ProgramFolders(directory.path / "programs", rules.workspace_folders),
        ProgramLimits(rules.at_once, rules.memory_mb, limits, rules.workspace_days, rules.home_days),
        reaper,
    )


async def _forget(forget: DeletePluginData, programs: Programs, plugin_id: PluginId) -> None:
    """Deletes what the Host stores for a plugin, with the folders of its programs."""
    await asyncio.to_thread(programs.folders.delete_plugin, plugin_id)
    await forget(plugin_id)


def _open_remote_plugins(
    settings: HostSettings,
    directory: DataDirectory,
    clock: Clock,
    version: str,
    redactor: Redactor,
    discovered: OnPluginDiscovered,
    removed: Callable[[PluginId], None],
    forget: DeletePluginData,
) -> PluginSubsystem:
    # Imported only here: a Host with an embedded runtime does not need the WebSocket client.
    from parlour.plugin_runtime.remote.address import RuntimeAddress
    from parlour.plugin_runtime.remote.manager import RemotePluginManager
    from parlour.plugin_runtime.remote.messages import FRAME_GROWTH_BYTES
    from parlour.plugin_runtime.remote.plugin import ChannelRules
    from parlour.plugin_runtime.remote.runtime import RemoteRuntime

    remote, policy = settings.runtime, plugin_policy(settings.plugins)
    rules = ChannelRules(
        address=RuntimeAddress(remote.url, _token(remote, redactor), remote.silence_seconds),
        limits=replace(policy.wire, frame_bytes=policy.wire.frame_bytes + FRAME_GROWTH_BYTES),
        start_seconds=policy.start_seconds,
        retries=lambda: Backoff(remote.first_retry_seconds, remote.longest_retry_seconds),
    )
    runtime = RemoteRuntime(rules, version, discovered, removed)
    manager = RemotePluginManager(runtime, open_install_services(settings, directory, clock).installer, forget)
    return PluginSubsystem(runtime, manager, "", unavailable_reason=runtime.unavailable_reason)


def _token(remote: RuntimeSettings, redactor: Redactor) -> Callable[[], str]:
    from parlour.plugin_runtime.remote.address import read_token

    file = remote.token_file
    return remote.token.get_secret_value if file is None else lambda: read_token(file, redactor)


async def _sandbox(plugins: PluginSettings, directory: DataDirectory) -> tuple[Launcher, SandboxState]:
    launcher, state = await choose_launcher(plugins.sandbox, plugins.bubblewrap, [directory.path])
    if state.notice:
        logger.warning("%s", state.notice)
    return launcher, state


def _logs(plugins: PluginSettings, directory: DataDirectory, redactor: Redactor) -> Callable[[PluginId], LogBuffer]:
    folder = directory.logs / "plugins"
    return lambda plugin_id: LogBuffer(
        redactor, LogFile(folder / f"{plugin_id}.log", plugins.log_files, plugins.log_bytes)
    )


def plugin_policy(plugins: PluginSettings) -> SupervisionPolicy:
    return SupervisionPolicy(
        start_seconds=plugins.start_seconds,
        stop_seconds=plugins.stop_seconds,
        drain_seconds=plugins.drain_seconds,
        concurrent_starts=plugins.starts_at_once,
        restart=RestartPolicy(
            first_delay_seconds=plugins.first_restart_seconds,
            max_delay_seconds=plugins.longest_restart_seconds,
            give_up_after=plugins.give_up_after,
            within_seconds=plugins.give_up_within_seconds,
        ),
        health=HealthPolicy(plugins.ping_seconds, plugins.missed_pings, plugins.ignored_cancel_seconds),
        resource_limits=ResourceLimits(
            memory_mb=plugins.memory_mb,
            data_mb=plugins.data_mb,
            data_files=plugins.data_files,
            open_files=plugins.open_files,
            processes=plugins.processes,
            niceness=plugins.niceness,
            process_check_seconds=plugins.memory_look_seconds,
            data_check_seconds=plugins.data_look_seconds,
        ),
        wire=WireLimits(frames_per_second=plugins.frames_per_second, bytes_per_second=plugins.bytes_per_second),
    )
