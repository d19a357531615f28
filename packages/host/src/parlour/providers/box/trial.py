"""Runs a command as an agent with a given box policy would, for a person who tries the policy out."""

from typing import Final

from parlour.core.box.policy import EXEC_TOOL, BoxPolicy
from parlour.core.box.status import TriedCommand
from parlour.core.model.ports import Clock

from .callers import BoxCaller, session_spec
from .commands import BoxCommands
from .connection import BoxConnection

WORKSPACE: Final = "default"
READY_SECONDS: Final = 10.0


class BoxTrial:
    """Tries commands out. Each person has a sandbox of their own per policy."""

    def __init__(self, connection: BoxConnection, commands: BoxCommands, clock: Clock) -> None:
        self._connection = connection
        self._commands = commands
        self._clock = clock

    async def run(self, policy: BoxPolicy, person: str, command: str) -> TriedCommand:
        """Runs a command. Raises ProviderFailed."""
        await self._connection.wait_until_known(READY_SECONDS)
        started_at = self._clock.now()
        caller = BoxCaller(policy, session_spec(policy, f"try {person}", WORKSPACE), None)
        outcome, result = await self._commands.run(caller, {"command": command})
        text = "\n".join(str(getattr(part, "text", "")) for part in outcome.content)
        return TriedCommand(
            text,
            str(result["status"]),
            outcome.is_error,
            EXEC_TOOL in policy.tool_names,
            policy.asks(EXEC_TOOL, {"command": command}),
            self._clock.now() - started_at,
        )
