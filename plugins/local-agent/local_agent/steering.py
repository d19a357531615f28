"""Pulls messages that the same user sends during the run, between the rounds of a turn."""

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext

from . import user_message
from .events import speaker_name
from .user_message import UserMessage


class SteeringReader:
    def __init__(self, ctx: AgentRunContext, api: AgentRunAPI) -> None:
        self._ctx = ctx
        self._api = api

    async def pull(self) -> list[UserMessage]:
        if not self._ctx.context.available_apis.steering_pull:
            return []
        items = await self._api.steering.pull()
        named = [(each.input, each.actor.actor_name if each.actor else None) for each in items]
        told = [user_message.from_input(given, speaker_name(self._ctx, name)) for given, name in named]
        return [each for each in told if not each.is_empty]
