"""The Plugin Runtime as a service elsewhere, used by the core like the embedded one. Reconnects after a loss."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any, NoReturn
from uuid import uuid4

from pydantic import ValidationError

from parlour.core.backoff import Backoff
from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginInfo
from parlour.core.model.ports import PluginUnavailable, ResultStream
from parlour_sdk.wire import Peer, WireError

from ..supervision.connection import PluginCallHandler
from ..supervision.local_runtime import UnavailableRun
from . import messages
from .plugin import ChannelRules, OnDiscovered, RemotePlugin

logger = logging.getLogger(__name__)

REVISION_TIMEOUT_SECONDS = 10.0
"""Seconds to wait until a completed change is visible here; it is done even if it is not visible by then."""


class NotConnected(Exception):
    """Raised when the plugin runtime is not connected."""


class RemoteRuntime:
    def __init__(
        self, rules: ChannelRules, version: str, discovered: OnDiscovered, removed: Callable[[PluginId], None]
    ) -> None:
        self._rules = rules
        self._version = version
        self._discovered = discovered
        self._removed = removed
        self._host = uuid4().hex
        self._actions: PluginCallHandler | None = None
        self._updates: dict[PluginId, messages.StatusUpdate] = {}
        self._plugins: dict[PluginId, RemotePlugin] = {}
        self._control: Peer | None = None
        self._session = ""
        self._updated_in_session: set[PluginId] = set()
        self._revision = -1
        """Revision up to which everything is known in this session; negative before that."""
        self._error = "it has not answered yet"
        self._was_known = False
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def serve(self, actions: PluginCallHandler) -> None:
        """Sets the actions that plugins may call, and starts connecting to the runtime. Called once.

        They are no constructor argument: the core provides them, and is itself built on this runtime.
        """
        self._actions = actions
        self._task = asyncio.create_task(self._keep_connection())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        self._disconnect("the Host stops")

    def supervisors(self) -> dict[PluginId, RemotePlugin]:
        return dict(self._plugins)

    def run_agent(self, plugin_id: PluginId, request: dict[str, Any]) -> ResultStream:
        plugin = self._plugins.get(plugin_id)
        return plugin.run(request) if plugin else UnavailableRun(plugin_id)

    async def call(self, plugin_id: PluginId, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        return await self._require_plugin(plugin_id).call(action, data, timeout)

    async def stream(self, plugin_id: PluginId, action: str, data: dict[str, Any]) -> ResultStream:
        return await self._require_plugin(plugin_id).stream(action, data)

    def _require_plugin(self, plugin_id: PluginId) -> RemotePlugin:
        if plugin_id not in self._plugins:
            raise PluginUnavailable(f"plugin {plugin_id} is not installed")
        return self._plugins[plugin_id]

    def unavailable_reason(self) -> str:
        """Returns why the runtime can't be used at the moment; empty if it can."""
        url = self._rules.address.url
        return f"the plugin runtime at {url} can't be used: {self._error}" if self._error else ""

    def facts(self) -> list[PluginInfo]:
        """Returns what is known of all plugins. Raises NotConnected if nothing is."""
        if not self._was_known:
            raise NotConnected(self.unavailable_reason())
        infos = {plugin_id: update.plugin for plugin_id, update in self._updates.items()}
        infos |= {plugin_id: plugin.facts for plugin_id, plugin in self._plugins.items()}
        return [infos[plugin_id] for plugin_id in sorted(infos)]

    async def wait_until_known(self) -> None:
        """Returns when all installed plugins are known, and each has started or failed to."""
        while self._revision < 0:
            await self._changed.wait()
        await asyncio.gather(*(plugin.wait_until_started() for plugin in self._plugins.values()))

    async def request(self, action: str, data: dict[str, Any]) -> Any:
        """Sends a request to the runtime. Raises NotConnected, and WireError if the runtime refuses."""
        if self._control is None:
            raise NotConnected(self.unavailable_reason())
        return await self._control.call(action, data)

    async def wait_for_revision(self, revision: int, plugin_id: PluginId | None) -> None:
        """Waits until a change of the runtime is visible here, unless the connection is lost or it takes too long."""
        try:
            async with asyncio.timeout(REVISION_TIMEOUT_SECONDS):
                while self._control is not None and self._revision < revision:
                    await self._changed.wait()
                if plugin_id in self._plugins:
                    await self._plugins[plugin_id].wait_until_started()
        except TimeoutError:
            logger.warning("the plugin runtime did not report a completed change in time")

    async def _keep_connection(self) -> None:
        retries = self._rules.retries()
        while True:
            try:
                await self._watch(retries)
            except WireError as error:
                reason = error.message
            except Exception as error:
                logger.exception("the connection to the plugin runtime failed")
                reason = f"the Host failed with {type(error).__name__}; its log says where"
            if reason != self._error:  # logged once, not with every attempt
                logger.error("the plugin runtime at %s can't be used: %s", self._rules.address.url, reason)
            self._disconnect(reason)
            await asyncio.sleep(retries.next_delay())

    async def _watch(self, retries: Backoff) -> NoReturn:
        """Follows the runtime's status. Raises WireError when the connection is lost or could not be opened."""
        transport = await self._rules.address.open(messages.CONTROL_PATH, self._rules.limits)
        peer = Peer(transport, _NoActions(), self._rules.limits, name="plugin runtime")
        peer.start()
        try:
            await self._handshake(peer)
            async with aclosing(peer.stream("watch", {})) as parts:
                async for part in parts:
                    self._apply_part(part)
                    if self._revision >= 0 and self._control is None:
                        self._control, self._error = peer, ""
                        retries.reset()
                        logger.info("the plugin runtime at %s is connected", self._rules.address.url)
                    self._notify()
            raise WireError("runtime_error", "it ended the connection")
        finally:
            peer.close("the Host closes the connection")

    async def _handshake(self, peer: Peer) -> None:
        hello = messages.ControlHello(
            protocol=messages.RUNTIME_PROTOCOL_VERSION, version=self._version, host=self._host
        )
        answer = await peer.call("hello", hello.model_dump(), timeout=self._rules.address.silence_seconds)
        try:
            welcome = messages.ControlWelcome.model_validate(answer)
        except ValidationError as error:
            raise WireError("invalid_argument", "what answers there is no plugin runtime; check the address") from error
        if welcome.protocol != messages.RUNTIME_PROTOCOL_VERSION:
            raise WireError(
                "not_supported", messages.protocol_mismatch_text(messages.RUNTIME_PROTOCOL_VERSION, welcome.protocol)
            )
        self._session, self._revision, self._updated_in_session = welcome.session, -1, set()

    def _apply_part(self, part: Any) -> None:
        match part:
            case {"told": update}:
                self._apply_update(_parse_update(update))
            case {"gone": str(gone)}:
                self._remove(PluginId(gone))
            case {"revision": int(revision)}:
                if self._revision < 0:
                    self._was_known = True
                    for plugin_id in self._updates.keys() - self._updated_in_session:
                        self._remove(plugin_id)
                self._revision = revision

    def _apply_update(self, update: messages.StatusUpdate) -> None:
        assert self._actions is not None
        plugin_id = update.plugin.plugin_id
        self._updated_in_session.add(plugin_id)
        self._updates[plugin_id] = update
        if not update.running:
            self._drop(plugin_id)
        elif plugin_id in self._plugins:
            self._plugins[plugin_id].apply_update(update, self._session)
        else:
            plugin = self._plugins[plugin_id] = RemotePlugin(update, self._rules, self._actions, self._discovered)
            plugin.apply_update(update, self._session)

    def _remove(self, plugin_id: PluginId) -> None:
        self._updates.pop(plugin_id, None)
        self._drop(plugin_id)

    def _drop(self, plugin_id: PluginId) -> None:
        plugin = self._plugins.pop(plugin_id, None)
        if plugin is not None:
            plugin.stop()
            self._removed(plugin_id)

    def _disconnect(self, reason: str) -> None:
        self._error, self._control, self._revision = reason, None, -1
        for plugin in self._plugins.values():
            plugin.disconnect(self.unavailable_reason())
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class _NoActions:
    """Refuses all calls: the runtime calls the Host only for plugins, which have their own channels."""

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any]:
        raise WireError("not_supported", f"the control connection has no action '{action}' on this side")


def _parse_update(update: Any) -> messages.StatusUpdate:
    try:
        return messages.StatusUpdate.model_validate(update)
    except ValidationError as error:
        raise WireError("invalid_argument", "it says of its plugins what this Host does not understand") from error
