"""One session of a harness: its process, its connection, and the calls of the Agent Client Protocol."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from parlour_sdk.api import PluginAPI
from parlour_sdk.api.processes import StartedProcess
from parlour_sdk.protocol.errors import AgentAPIException

from .config import HarnessConfig
from .errors import HarnessFailed
from .permissions import CANCELLED
from .presets import CUSTOM, PRESETS, Preset
from .transport import ProcessTransport

logger = logging.getLogger(__name__)

PROTOCOL_VERSION = 1
CAPABILITIES = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
"""The harness works on its own files and commands; the Host offers it none."""
NOT_FOUND = -32601
PING = "_parlour/ping"
"""Method that no harness has: its refusal shows that the harness has got so far."""
REPLAY_SECONDS = 0.1
OnUpdate = Callable[[dict[str, Any]], None]
OnQuestion = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class HarnessSession:
    """A started harness with one session."""

    def __init__(self, process: StartedProcess, preset: Preset, config: HarnessConfig) -> None:
        from acp.connection import Connection

        self.preset = preset
        self.config = config
        self.process = process
        self.transport = ProcessTransport(process)
        self.session_id = ""
        self.is_fresh = False
        """True if an earlier session could not be continued."""
        self.gateway_token = ""
        """Token for the Host's MCP server; empty if the harness does not use it."""
        self.fingerprint = ""
        """Stands for the configuration that it was started with."""
        self.about: dict[str, Any] = {}
        """The answer to `initialize`."""
        self.on_update: OnUpdate | None = None
        self.on_question: OnQuestion | None = None
        self.on_withdrawn: Callable[[Any], None] | None = None
        self._ignored_updates = 0
        self._connection: Any = Connection(self._handle, self.transport)

    @property
    def capabilities(self) -> dict[str, Any]:
        return dict(self.about.get("agentCapabilities") or {})

    @property
    def steers(self) -> bool:
        """Whether a message can be added to a running turn."""
        steering = (self.about.get("_meta") or {}).get("steering")
        return isinstance(steering, dict) and bool(steering.get("supported"))

    @property
    def ended(self) -> bool:
        return self.process.status is not None or bool(self.process.reason) or bool(self.transport.problem)

    async def initialize(self) -> None:
        """Greets the harness. Raises HarnessFailed if it speaks another version."""
        info = {"name": "parlour", "version": "1"}
        self.about = await self.request(
            "initialize",
            {"protocolVersion": PROTOCOL_VERSION, "clientCapabilities": CAPABILITIES, "clientInfo": info},
        )
        if self.about.get("protocolVersion") != PROTOCOL_VERSION:
            version = self.about.get("protocolVersion")
            raise HarnessFailed("acp.protocol", f"{self.preset.label} speaks version {version} of the protocol, not 1")
        method = self.config.auth_method or self.preset.auth_method
        if method:
            await self.request("authenticate", {"methodId": method})

    async def open(self, earlier: str, servers: list[dict[str, Any]]) -> None:
        """Continues an earlier session if there is one and the harness can, and begins a new one otherwise."""
        mcp = self.capabilities.get("mcpCapabilities") or {}
        place = {"cwd": self.process.working_directory, "mcpServers": servers if mcp.get("http") else []}
        answer = await self._continue(earlier, place) if earlier else None
        if answer is None:
            self.is_fresh = bool(earlier)
            answer = await self.request("session/new", place)
            self.session_id = str(answer.get("sessionId") or "")
        await self._set_mode(answer)

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Calls the harness. Raises HarnessFailed with its message."""
        from acp.exceptions import RequestError

        try:
            answer = await self._connection.send_request(method, params)
        except RequestError as error:
            raise self._failure(error, method) from error
        except (ConnectionError, AgentAPIException) as error:
            raise self.crashed() from error
        return answer if isinstance(answer, dict) else {}

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        with contextlib.suppress(ConnectionError, AgentAPIException):
            await self._connection.send_notification(method, params)

    def crashed(self) -> HarnessFailed:
        """Returns the failure of a harness whose process is gone."""
        reason = self.transport.problem or f"it ended with status {self.process.status}"
        tail = f"; its log ends with: {self._masked(self.transport.log_tail)}" if self.transport.log_tail else ""
        return HarnessFailed("runner.crashed", f"{self.preset.label} stopped: {reason}{tail}", retryable=True)

    async def close(self) -> None:
        """Ends the process with everything that it started."""
        await self._connection.close()

    async def _continue(self, earlier: str, place: dict[str, Any]) -> dict[str, Any] | None:
        """Returns the answer for a continued session, or None if it can't be continued."""
        sessions = self.capabilities.get("sessionCapabilities") or {}
        methods = ["session/resume"] if isinstance(sessions, dict) and sessions.get("resume") is not None else []
        methods += ["session/load"] if self.capabilities.get("loadSession") else []
        for method in methods:
            try:
                answer = await self.request(method, {"sessionId": earlier, **place})
            except HarnessFailed as failure:
                if failure.code == "runner.crashed":
                    raise
                logger.info("%s: %s failed: %s", self.preset.label, method, failure.message)
                continue
            self.session_id = earlier
            if method == "session/load":
                await self._await_replay()
            return answer
        return None

    async def _await_replay(self) -> None:
        """Waits until the history has been repeated: some harnesses do so after their answer to `session/load`."""
        seen = -1
        while seen != self._ignored_updates:
            seen = self._ignored_updates
            try:
                await self.request(PING, {})
            except HarnessFailed as failure:
                if failure.code == "runner.crashed":
                    raise
            await asyncio.sleep(REPLAY_SECONDS)

    async def _set_mode(self, answer: dict[str, Any]) -> None:
        """Sets the mode of the configuration: harnesses begin and resume in others, some of which ask nothing."""
        mode = self.config.mode or self.preset.mode
        if not mode:
            return
        modes = answer.get("modes") if isinstance(answer.get("modes"), dict) else {}
        offered = [each.get("id") for each in (modes or {}).get("availableModes") or () if isinstance(each, dict)]
        if mode in offered:
            if (modes or {}).get("currentModeId") != mode:
                await self.request("session/set_mode", {"sessionId": self.session_id, "modeId": mode})
            return
        for option in answer.get("configOptions") or ():
            if isinstance(option, dict) and option.get("category") == "mode":
                params = {"sessionId": self.session_id, "configId": option.get("id"), "value": mode}
                await self.request("session/set_config_option", params)
                return
        if self.config.mode:
            raise HarnessFailed("acp.config", f"mode: {self.preset.label} offers no mode '{mode}', but: {offered}")

    async def _handle(self, method: str, params: Any, is_notification: bool) -> Any:
        from acp.exceptions import RequestError

        values = params if isinstance(params, dict) else {}
        match method:
            case "session/update":
                if self.on_update is None:
                    self._ignored_updates += 1
                elif isinstance(values.get("update"), dict):
                    self.on_update(values["update"])
                return None
            case "session/request_permission":
                return await self.on_question(values) if self.on_question is not None else CANCELLED
            case "$/cancel_request":
                if self.on_withdrawn is not None:
                    self.on_withdrawn(values.get("requestId"))
                return None
            case "elicitation/create":
                return {"action": "decline"}
        if not is_notification:
            raise RequestError(NOT_FOUND, f"this client has no {method}")
        return None

    def _failure(self, error: Any, method: str) -> HarnessFailed:
        message = self._masked(str(error))[:500]
        data = getattr(error, "data", None)
        if isinstance(data, dict) and data.get("details"):
            message += f" ({self._masked(str(data['details']))[:300]})"
        if getattr(error, "code", None) == -32000:
            return HarnessFailed("acp.auth", f"{self.preset.label} is not logged in: {message}")
        return HarnessFailed("acp.error", f"{self.preset.label} refused {method}: {message}")

    def _masked(self, text: str) -> str:
        secrets = [self.config.api_key.get_secret_value(), *self.config.secret_variables().values()]
        for secret in filter(None, secrets):
            text = text.replace(secret, "***")
        return text


async def start_session(
    api: PluginAPI, config: HarnessConfig, workspace: str, home: str, earlier: str, servers: list[dict[str, Any]]
) -> HarnessSession:
    """Starts a harness with its session. Raises HarnessFailed; nothing is left then."""
    preset = PRESETS.get(config.harness)
    if preset is None:
        raise HarnessFailed("acp.config", f"harness: there is none named '{config.harness}'")
    process = await _start_process(api, preset, config, workspace, home)
    session = HarnessSession(process, preset, config)
    try:
        async with asyncio.timeout(config.start_seconds):
            await session.initialize()
            await session.open(earlier, servers)
    except TimeoutError:
        await session.close()
        raise HarnessFailed(
            "acp.start", f"{preset.label} was not ready within {config.start_seconds:g} s", retryable=True
        ) from None
    except BaseException:
        await session.close()
        raise
    return session


async def _start_process(
    api: PluginAPI, preset: Preset, config: HarnessConfig, workspace: str, home: str
) -> StartedProcess:
    command = config.command if preset.name == CUSTOM else preset.command
    if not command:
        raise HarnessFailed("acp.config", "command: name the program of the harness")
    variables = {**preset.variables(config), **config.environment, **config.secret_variables()}
    try:
        return await api.processes.start(
            preset.name,
            command,
            [*preset.arguments, *config.arguments],
            environment=variables,
            workspace=config.workspace or workspace,
            home=home,
            files=preset.files(config),
        )
    except AgentAPIException as refusal:
        message = refusal.error.message
        if refusal.error.code == "not_found" and preset.install:
            raise HarnessFailed(
                "acp.not_installed", f"{preset.label} is not installed ({message}); {preset.install}"
            ) from refusal
        code = "acp.not_granted" if refusal.error.code == "unauthorized" else "acp.start"
        raise HarnessFailed(code, f"{preset.label} can't be started: {message}", refusal.error.retryable) from refusal
