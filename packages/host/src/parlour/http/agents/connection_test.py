"""Checks an agent's configuration before it is saved: the runner itself asks its service, in the plugin's process."""

import time
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from parlour.core.config import secret_fields
from parlour.core.model.agent import Agent
from parlour.core.model.ids import RunnerId
from parlour.core.model.ports import PluginCaller, PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.secrets import SecretBox, SecretUnreadable
from parlour_sdk.protocol.components import RunnerCheck, RunnerCheckResult

from ..errors import Problem
from .schemas import AgentTestResponse

TEST_SECONDS = 60.0
"""Seconds for a check; a little more than the time limits of services by default."""
MAX_MESSAGE_CHARACTERS = 2000


class RunnerConnectionTest:
    """Calls `check_runner` of a runner's plugin."""

    def __init__(self, registry: RunnerRegistry, plugins: PluginCaller, secrets: SecretBox) -> None:
        self._registry = registry
        self._plugins = plugins
        self._secrets = secrets

    async def run(self, agent: Agent, locale: str) -> AgentTestResponse:
        """Tests the configuration of an agent, which need not be stored. Raises Problem if it can't be tested."""
        begun = time.monotonic()
        result = await self._call(agent.runner_id, agent.runner_config, locale)
        milliseconds = round((time.monotonic() - begun) * 1000)
        message = result.message[:MAX_MESSAGE_CHARACTERS]
        return {"ok": not result.code, "code": result.code[:200], "message": message, "milliseconds": milliseconds}

    async def _call(self, runner_id: RunnerId, config: Mapping[str, Any], locale: str) -> RunnerCheckResult:
        descriptor = self._registry.get(runner_id)
        if descriptor is None or not descriptor.manifest.capabilities.connection_test:
            raise Problem(409, "not_supported", "this kind of agent has nothing to test; send it a message instead")
        try:
            opened = secret_fields.open_secrets(dict(config), self._secrets)
            check = RunnerCheck(runner_name=descriptor.manifest.name, config=opened, locale=locale)
            answer = await self._plugins.call(
                descriptor.plugin_id, "check_runner", check.model_dump(mode="json"), TEST_SECONDS
            )
            return RunnerCheckResult.model_validate(answer)
        except SecretUnreadable:
            return RunnerCheckResult(code="secret_unreadable", message="a stored secret can't be read; enter it again")
        except TimeoutError:
            message = f"the test took longer than {TEST_SECONDS:.0f} s"
            return RunnerCheckResult(code="runner.timeout", message=message)
        except (PluginUnavailable, PluginDisconnected, PluginCallFailed) as error:
            return RunnerCheckResult(code="plugin_failed", message=f"{descriptor.plugin_id}: {error}")
        except ValidationError:
            message = f"{descriptor.plugin_id} answered the test with something that can't be read"
            return RunnerCheckResult(code="plugin_failed", message=message)
