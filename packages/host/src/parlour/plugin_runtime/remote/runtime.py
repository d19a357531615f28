"""The Plugin Runtime as a service elsewhere, used by the core like the embedded one. Reconnects after a loss."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any, NoReturn
from uuid import uuid4

from pydantic import ValidationError

from parlour.core.model.plugin_manager import PluginFacts
from parlour.core.model.ports import PluginUnavailable, ResultStream
from parlour_sdk.wire import Peer, WireError

from ..supervision.connection import HostActions
from ..supervision.local_runtime import AbsentRun
from . import messages
from .address import Retries
from .plugin import ChannelRules, Discovered, RemotePlugin

logger = logging.getLogger(__name__)

CATCH_UP_SECONDS = 10.0
"""Seconds to wait until a completed change is visible here; it is done even if it is not visible by then."""


class NotConnected(Exception):
    """Raised when the plugin runtime is not connected."""


class RemoteRuntime:
    def __init__(
        self, rules: ChannelRules, version: str, discovered: Discovered, removed: Callable[[str], None]
    ) -> None:
        self._rules = rules
        self._version = version
        self._discovered = discovered
        self._removed = removed
        self._host = uuid4().hex
        self._actions: HostActions | None = None
        self._told: dict[str, messages.Told] = {}
        self._plugins: dict[str, RemotePlugin] = {}
        self._control: Peer | None = None
        self._session = ""
        self._seen: set[str] = set()
        self._revision = -1
        """Revision up to which everything is known in this session; negative before that."""
        self._trouble = "it has not answered yet"
        self._was_known = False
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def serve(self, actions: HostActions) -> None:
        """Sets the actions that plugins may call, and starts connecting to the runtime. Called once."""
        self._actions = actions
        self._task = asyncio.create_task(self._keep_connection())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        self._lose("the Host stops")

    def supervisors(self) -> dict[str, RemotePlugin]:
        return dict(self._plugins)

    def run_agent(self, plugin_id: str, request: dict[str, Any]) -> ResultStream:
        plugin = self._plugins.get(plugin_id)
        return plugin.run(request) if plugin else AbsentRun(plugin_id)

    async def call(self, plugin_id: str, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        return await self._running(plugin_id).call(action, data, timeout)

    async def stream(self, plugin_id: str, action: str, data: dict[str, Any]) -> ResultStream:
        return await self._running(plugin_id).stream(action, data)

    def _running(self, plugin_id: str) -> RemotePlugin:
        if plugin_id not in self._plugins:
            raise PluginUnavailable(f"plugin {plugin_id} is not installed")
        return self._plugins[plugin_id]

    def trouble(self) -> str:
        """Returns why the runtime can't be used at the moment; empty if it can."""
        where = self._rules.address.url
        return f"the plugin runtime at {where} can't be used: {self._trouble}" if self._trouble else ""

    def facts(self) -> list[PluginFacts]:
        """Returns what is known of all plugins. Raises NotConnected if nothing is."""
        if not self._was_known:
            raise NotConnected(self.trouble())
        shown = {plugin_id: told.plugin for plugin_id, told in self._told.items()}
        shown |= {plugin_id: plugin.facts for plugin_id, plugin in self._plugins.items()}
        return [shown[plugin_id] for plugin_id in sorted(shown)]

    async def known(self) -> None:
        """Returns when all installed plugins are known, and each has started or failed to."""
        while self._revision < 0:
            await self._news.wait()
        await asyncio.gather(*(plugin.settled() for plugin in self._plugins.values()))

    async def ask(self, action: str, data: dict[str, Any]) -> Any:
        """Sends a request to the runtime. Raises NotConnected, and WireError if the runtime refuses."""
        if self._control is None:
            raise NotConnected(self.trouble())
        return await self._control.call(action, data)

    async def caught_up(self, revision: int, plugin_id: str | None) -> None:
        """Waits until a change of the runtime is visible here, unless the connection is lost or it takes too long."""
        try:
            async with asyncio.timeout(CATCH_UP_SECONDS):
                while self._control is not None and self._revision < revision:
                    await self._news.wait()
                if plugin_id in self._plugins:
                    await self._plugins[plugin_id].settled()
        except TimeoutError:
            logger.warning("the plugin runtime did not report a completed change in time")

    async def _keep_connection(self) -> None:
        retries = self._rules.retries()
        while True:
            try:
                await self._follow(retries)
            except WireError as error:
                reason = error.message
            except Exception as error:
                logger.exception("the connection to the plugin runtime failed")
                reason = f"the Host failed with {type(error).__name__}; its log says where"
            if reason != self._trouble:  # logged once, not with every attempt
                logger.error("the plugin runtime at %s can't be used: %s", self._rules.address.url, reason)
            self._lose(reason)
            await asyncio.sleep(retries.delay())

    async def _follow(self, retries: Retries) -> NoReturn:
        """Follows the runtime's status. Raises WireError when the connection is lost or could not be opened."""
        transport = await self._rules.address.open(messages.CONTROL, self._rules.limits)
        peer = Peer(transport, _Nothing(), self._rules.limits, name="plugin runtime")
        peer.start()
        try:
            await self._greet(peer)
            async with aclosing(peer.stream("watch", {})) as parts:
                async for part in parts:
                    self._take(part)
                    if self._revision >= 0 and self._control is None:
                        self._control, self._trouble = peer, ""
                        retries.forget()
                        logger.info("the plugin runtime at %s is connected", self._rules.address.url)
                    self._inform()
            raise WireError("runtime_error", "it ended the connection")
        finally:
            peer.close("the Host closes the connection")

    async def _greet(self, peer: Peer) -> None:
        hello = messages.ControlHello(protocol=messages.PROTOCOL, version=self._version, host=self._host)
        answer = await peer.call("hello", hello.model_dump(), timeout=self._rules.address.silence_seconds)
        try:
            welcome = messages.ControlWelcome.model_validate(answer)
        except ValidationError as error:
            raise WireError("invalid_argument", "what answers there is no plugin runtime; check the address") from error
        if welcome.protocol != messages.PROTOCOL:
            raise WireError("not_supported", messages.mismatch(messages.PROTOCOL, welcome.protocol))
        self._session, self._revision, self._seen = welcome.session, -1, set()

    def _take(self, part: Any) -> None:
        match part:
            case {"told": told}:
                self._take_told(_parsed(told))
            case {"gone": str(plugin_id)}:
                self._forget(plugin_id)
            case {"revision": int(revision)}:
                if self._revision < 0:
                    self._was_known = True
                    for plugin_id in self._told.keys() - self._seen:
                        self._forget(plugin_id)
                self._revision = revision

    def _take_told(self, told: messages.Told) -> None:
        assert self._actions is not None
        plugin_id = told.plugin.plugin_id
        self._seen.add(plugin_id)
        self._told[plugin_id] = told
        if not told.running:
            self._drop(plugin_id)
        elif plugin_id in self._plugins:
            self._plugins[plugin_id].tell(told, self._session)
        else:
            plugin = self._plugins[plugin_id] = RemotePlugin(told, self._rules, self._actions, self._discovered)
            plugin.tell(told, self._session)

    def _forget(self, plugin_id: str) -> None:
        self._told.pop(plugin_id, None)
        self._drop(plugin_id)

    def _drop(self, plugin_id: str) -> None:
        plugin = self._plugins.pop(plugin_id, None)
        if plugin is not None:
            plugin.end()
            self._removed(plugin_id)

    def _lose(self, reason: str) -> None:
        self._trouble, self._control, self._revision = reason, None, -1
        for plugin in self._plugins.values():
            plugin.leave(self.trouble())
        self._inform()

    def _inform(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class _Nothing:
    """Refuses all calls: the runtime calls the Host only for plugins, which have their own channels."""

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any]:
        raise WireError("not_supported", f"the control connection has no action '{action}' on this side")


def _parsed(told: Any) -> messages.Told:
    try:
        return messages.Told.model_validate(told)
    except ValidationError as error:
        raise WireError("invalid_argument", "it says of its plugins what this Host does not understand") from error
