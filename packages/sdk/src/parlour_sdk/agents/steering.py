"""Pulls messages that the same user sends during the run, between the rounds of a turn."""

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext

from .speakers import GroupMembers
from .user_message import UserMessage


class SteeringReader:
    """Pulls the waiting messages of a run whose runner has the capability `steering`."""

    def __init__(self, ctx: AgentRunContext, api: AgentRunAPI) -> None:
        self._ctx = ctx
        self._api = api

    async def pull(self) -> list[UserMessage]:
        """Returns the new messages; makes no call if the run can't be steered."""
        if not self._ctx.context.available_apis.steering_pull:
            return []
        items, members = await self._api.steering.pull(), GroupMembers(self._ctx)
        messages = [
            UserMessage.from_input(each.input, members.of_actor(each.actor, each.claimed_at), members) for each in items
        ]
        return [each for each in messages if not each.is_empty]
