"""Tests commands: one or several replies, texts or chains, by name or alias."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from parlour_sdk.chains import at, chain
from parlour_sdk.components import Command, CommandContext
from parlour_sdk.components.functions import FunctionCommand
from parlour_sdk.protocol.components import CommandReply
from parlour_sdk.wire import WireError

from .support import BOT, loaded, serving


class Ping(Command):
    async def run(self, ctx: CommandContext) -> str:  # type: ignore[override]
        return f"{ctx.command}: {ctx.text} {ctx.arguments}"


class Count(Command):
    closed = False

    async def run(self, ctx: CommandContext) -> AsyncGenerator[Any, None]:
        try:
            yield "one"
            yield chain("two ", at("u-1"))
            yield at("u-2")
        finally:
            type(self).closed = True


class Quiet(Command):
    async def run(self, ctx: CommandContext) -> None:  # type: ignore[override]
        await ctx.api.messages.send("bot-1", "group", "g-1", "psst")


class Broken(Command):
    async def run(self, ctx: CommandContext) -> AsyncGenerator[str, None]:
        yield "so far"
        raise RuntimeError("the secret is 12345")


ALL = {"ping": Ping(), "count": Count(), "quiet": Quiet(), "broken": Broken()}


def serving_commands() -> Any:
    return serving(loaded(commands=ALL, specs={("Command", "ping"): {"aliases": ["p", "pong"]}}))


@pytest.mark.parametrize("typed", ["ping", "p", "pong"])
async def test_a_command_is_called_by_its_name_and_its_aliases(typed: str) -> None:
    async with serving_commands() as connection:
        assert await connection.command(typed, "a", "b") == [{"text": "ping: a b ['a', 'b']"}]


async def test_a_command_may_reply_several_times_with_texts_and_chains() -> None:
    async with serving_commands() as connection:
        replies = [CommandReply.model_validate(each) for each in await connection.command("count")]
    assert [reply.text for reply in replies] == ["one", None, None]
    assert [[part.type for part in reply.chain or []] for reply in replies] == [[], ["Plain", "At"], ["At"]]


async def test_a_command_may_send_no_reply() -> None:
    async with serving_commands() as connection:
        assert await connection.command("quiet") == []
        assert [action for action, _ in connection.host.requests] == ["send_message"]


async def test_a_command_receives_bot_conversation_and_actor() -> None:
    seen: list[CommandContext] = []

    async def look(ctx: CommandContext) -> None:
        seen.append(ctx)

    async with serving(loaded(commands={"look": FunctionCommand(look)})) as connection:
        where = {"bot": BOT, "conversation": {"conversation_id": "c-1"}, "actor": {"actor_type": "user"}}
        await connection.command("look", event_id="e-1", **where)
    [ctx] = seen
    assert ctx.bot is not None
    assert ctx.conversation is not None
    assert ctx.actor is not None
    assert (ctx.event_id, ctx.bot.id, ctx.conversation.conversation_id) == ("e-1", "bot-1", "c-1")


async def test_a_failing_command_keeps_its_earlier_replies_and_reveals_no_secret() -> None:
    async with serving_commands() as connection:
        stream = connection.peer.stream("run_command", {"command": "broken"})
        assert await anext(stream) == {"text": "so far"}
        with pytest.raises(WireError, match="the command 'broken' failed with RuntimeError") as refusal:
            await anext(stream)
        assert await connection.command("ping") != []
    assert refusal.value.code == "runtime_error"
    assert "12345" not in refusal.value.message


async def test_a_refusal_of_the_host_fails_the_command_with_its_code() -> None:
    async with serving_commands() as connection:
        connection.host.answers["send_message"] = WireError("unauthorized", "message.send was not granted")
        with pytest.raises(WireError, match="not granted") as refusal:
            await connection.command("quiet")
    assert refusal.value.code == "unauthorized"


async def test_a_reply_that_is_not_a_message_fails_the_command() -> None:
    async def odd(ctx: CommandContext) -> Any:
        return 5

    async with serving(loaded(commands={"odd": FunctionCommand(odd)})) as connection:
        with pytest.raises(WireError, match="the command 'odd' failed"):
            await connection.command("odd")


async def test_an_unknown_command_is_refused_by_name() -> None:
    async with serving_commands() as connection:
        with pytest.raises(WireError, match="no command 'pink'") as refusal:
            await connection.command("pink")
    assert refusal.value.code == "not_found"


async def test_a_command_is_closed_when_its_stream_is_closed_early() -> None:
    Count.closed = False
    async with serving_commands() as connection:
        stream = connection.peer.stream("run_command", {"command": "count"})
        async for _ in stream:
            break
        await stream.aclose()
        await connection.peer.call("list_components")
    assert Count.closed
