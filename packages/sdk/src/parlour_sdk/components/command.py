"""Defines Command, the component that answers users who type its name: `/ping`."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable
from typing import TypeAlias

from parlour_sdk.api import PluginAPI
from parlour_sdk.protocol.chain import Component, MessageChain
from parlour_sdk.protocol.components import BotIdentity
from parlour_sdk.protocol.events import Actor, Conversation

from ..values import dataclass

Answer: TypeAlias = str | Component | MessageChain
"""One message: a text, a chain, or a single component of one."""


@dataclass(frozen=True, slots=True)
class CommandContext:
    """The arguments of one call of a command, its sender and its conversation."""

    api: PluginAPI
    command: str
    """The command's name, even if an alias was typed."""
    arguments: list[str]
    text: str
    """The text after the command's name."""
    event_id: str | None = None
    bot: BotIdentity | None = None
    conversation: Conversation | None = None
    actor: Actor | None = None


class Command(ABC):
    """One instance serves all calls. Name, usage and aliases are in the component's file."""

    @abstractmethod
    def run(self, ctx: CommandContext) -> AsyncGenerator[Answer, None] | Awaitable[Answer | None]:
        """Yields several answers or returns a single one; written as `async def`."""
