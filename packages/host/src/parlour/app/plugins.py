"""Builds the plugin subsystem from the settings: plugins run beside the Host, or in a standalone plugin runtime."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from parlour.core.model.plugin_manager import Forget, Offer, PluginKeeper
from parlour.core.model.ports import Clock, PluginCaller
from parlour.plugin_runtime.manager import Keeper
from parlour.plugin_runtime.process.launcher import Launcher
from parlour.plugin_runtime.process.log_buffer import LogBuffer
from parlour.plugin_runtime.process.log_file import LogFile
from parlour.plugin_runtime.process.reaper import Guardian
from parlour.plugin_runtime.process.sandbox import SandboxState, choose_launcher
from parlour.plugin_runtime.reconciler import Settler
from parlour.plugin_runtime.start_preparation import Preparation
from parlour.plugin_runtime.store import Installed
from parlour.plugin_runtime.supervision.connection import HostActions
from parlour.plugin_runtime.supervision.local_runtime import EmbeddedRuntime
from parlour.plugin_runtime.supervision.policy import Allowance, HealthPolicy, Policy, RestartPolicy
from parlour.plugin_runtime.supervision.status import StatusFile
from parlour_sdk.values import dataclass
from parlour_sdk.wire import Limits

from .data_directory import DataDirectory
from .installation import open_installation
from .settings import PluginSettings, RuntimeSettings, Settings

logger = logging.getLogger(__name__)

Discovered = Callable[[str, str, Offer], None]
"""Called with a plugin, its version and its manifest when it is discovered."""


class Kept(Protocol):
    """A plugin whose process is supervised."""

    @property
    def status(self) -> str: ...

    @property
    def proven(self) -> bool: ...


class Runtime(PluginCaller, Protocol):
    """A plugin runtime, embedded or standalone."""

    def serve(self, actions: HostActions) -> None: ...

    def supervisors(self) -> Mapping[str, Kept]: ...

    async def close(self) -> None: ...


class Plugins(PluginKeeper, Protocol):
    """Plugin manager that can be asked to reread what is installed."""

    async def refresh(self) -> None:
        """Rereads what is installed, and returns when each plugin runs or its failure is known."""
        ...


def _none() -> str:
    return ""


@dataclass(frozen=True, slots=True)
class PluginSide:
    """The plugin runtime of a Host and the manager of its plugins."""

    runtime: Runtime
    plugins: Plugins
    notice: str
    """Message for the operator at the start; empty if all is well."""
    trouble: Callable[[], str] = _none
    """Returns why the runtime can't be used at the moment; empty if it can."""


@dataclass(frozen=True, slots=True)
class LocalSide:
    """A plugin runtime in this process and the manager of its plugins."""

    runtime: EmbeddedRuntime
    keeper: Keeper
    notice: str


async def open_plugin_side(
    settings: Settings,
    directory: DataDirectory,
    clock: Clock,
    version: str,
    discovered: Discovered,
    removed: Callable[[str], None],
    forget: Forget,
) -> PluginSide:
    """Opens the standalone plugin runtime that the settings name, otherwise an embedded one."""
    if settings.runtime.url:
        return _remote(settings, directory, clock, version, discovered, removed, forget)

    def found(plugin: Installed, offer: Offer) -> None:
        discovered(plugin.plugin_id, plugin.version, offer)

    status = StatusFile(directory.plugin_status)
    local = await open_local_side(settings, directory, clock, version, found, removed, forget, status)
    return PluginSide(local.runtime, local.keeper, local.notice)


async def open_local_side(
    settings: Settings,
    directory: DataDirectory,
    clock: Clock,
    version: str,
    discovered: Callable[[Installed, Offer], None],
    removed: Callable[[str], None],
    forget: Forget,
    status: StatusFile,
) -> LocalSide:
    """Opens a plugin runtime that starts plugins as child processes."""
    installation = open_installation(settings, directory, clock)
    launcher, sandbox = await _sandbox(settings.plugins, directory)
    runtime = EmbeddedRuntime(
        installation.folder,
        launcher,
        Preparation(installation.folder, installation.builds, directory.plugin_data),
        version,
        discovered,
        removed,
        status,
        _logs(settings.plugins, directory),
        Guardian(),
        policy(settings.plugins),
    )
    settler = Settler(installation.folder, installation.environments, runtime, directory.plugin_data, forget, clock)
    keeper = Keeper(installation.folder, installation.builds, installation.installer, runtime, settler, sandbox)
    return LocalSide(runtime, keeper, sandbox.notice)


def _remote(
    settings: Settings,
    directory: DataDirectory,
    clock: Clock,
    version: str,
    discovered: Discovered,
    removed: Callable[[str], None],
    forget: Forget,
) -> PluginSide:
    # Imported only here: a Host with an embedded runtime does not need the WebSocket client.
    from parlour.plugin_runtime.remote.address import Address, Retries
    from parlour.plugin_runtime.remote.manager import RemoteKeeper
    from parlour.plugin_runtime.remote.messages import ROOM_BYTES
    from parlour.plugin_runtime.remote.plugin import ChannelRules
    from parlour.plugin_runtime.remote.runtime import RemoteRuntime

    there, kept = settings.runtime, policy(settings.plugins)
    rules = ChannelRules(
        address=Address(there.url, _token(there), there.silence_seconds),
        limits=replace(kept.wire, frame_bytes=kept.wire.frame_bytes + ROOM_BYTES),
        start_seconds=kept.start_seconds,
        retries=lambda: Retries(there.first_retry_seconds, there.longest_retry_seconds),
    )
    runtime = RemoteRuntime(rules, version, discovered, removed)
    keeper = RemoteKeeper(runtime, open_installation(settings, directory, clock).installer, forget)
    return PluginSide(runtime, keeper, "", runtime.trouble)


def _token(there: RuntimeSettings) -> Callable[[], str]:
    from parlour.plugin_runtime.remote.address import token_in

    file = there.token_file
    return there.token.get_secret_value if file is None else lambda: token_in(file)


async def _sandbox(plugins: PluginSettings, directory: DataDirectory) -> tuple[Launcher, SandboxState]:
    launcher, state = await choose_launcher(plugins.sandbox, plugins.bubblewrap, [directory.path])
    if state.notice:
        logger.warning("%s", state.notice)
    return launcher, state


def _logs(plugins: PluginSettings, directory: DataDirectory) -> Callable[[str], LogBuffer]:
    return lambda plugin_id: LogBuffer(
        LogFile(directory.logs / "plugins" / f"{plugin_id}.log", plugins.log_files, plugins.log_bytes)
    )


def policy(plugins: PluginSettings) -> Policy:
    return Policy(
        start_seconds=plugins.start_seconds,
        stop_seconds=plugins.stop_seconds,
        drain_seconds=plugins.drain_seconds,
        starts_at_once=plugins.starts_at_once,
        restart=RestartPolicy(
            first_delay=plugins.first_restart_seconds,
            longest_delay=plugins.longest_restart_seconds,
            give_up_after=plugins.give_up_after,
            within_seconds=plugins.give_up_within_seconds,
        ),
        health=HealthPolicy(plugins.ping_seconds, plugins.missed_pings, plugins.ignored_cancel_seconds),
        allowance=Allowance(
            memory_mb=plugins.memory_mb,
            data_mb=plugins.data_mb,
            data_files=plugins.data_files,
            open_files=plugins.open_files,
            processes=plugins.processes,
            niceness=plugins.niceness,
            memory_seconds=plugins.memory_look_seconds,
            data_seconds=plugins.data_look_seconds,
        ),
        wire=Limits(frames_per_second=plugins.frames_per_second, bytes_per_second=plugins.bytes_per_second),
    )
