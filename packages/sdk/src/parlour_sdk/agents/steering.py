"""Pulls messages that the same user sends during the run, between the rounds of a turn."""

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext

from .user_message import UserMessage, speaker_name


class SteeringReader:
    """Pulls the waiting messages of a run whose runner has the capability `steering`."""

    def __init__(self, ctx: AgentRunContext, api: AgentRunAPI) -> None:
        self._ctx = ctx
        self._api = api

    async def pull(self) -> list[UserMessage]:
        """Returns the new messages; makes no call if the run can't be steered."""
        if not self._ctx.context.available_apis.steering_pull:
            return []
        items = await self._api.steering.pull()
        inputs = [(each.input, each.actor.actor_name if each.actor else None) for each in items]
        messages = [UserMessage.from_input(agent_input, speaker_name(self._ctx, name)) for agent_input, name in inputs]
        return [each for each in messages if not each.is_empty]
