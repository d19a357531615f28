"""Commands: one answer or several, texts or chains, by name or alias."""

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


def commanding() -> Any:
    return serving(loaded(commands=ALL, specs={("Command", "ping"): {"aliases": ["p", "pong"]}}))


@pytest.mark.parametrize("typed", ["ping", "p", "pong"])
async def test_a_command_answers_to_its_name_and_its_aliases(typed: str) -> None:
    async with commanding() as line:
        assert await line.command(typed, "a", "b") == [{"text": "ping: a b ['a', 'b']"}]


async def test_a_command_may_answer_several_times_in_texts_and_chains() -> None:
    async with commanding() as line:
        replies = [CommandReply.model_validate(each) for each in await line.command("count")]
    assert [reply.text for reply in replies] == ["one", None, None]
    assert [[part.type for part in reply.chain or []] for reply in replies] == [[], ["Plain", "At"], ["At"]]


async def test_a_command_may_say_nothing() -> None:
    async with commanding() as line:
        assert await line.command("quiet") == []
        assert [action for action, _ in line.host.asked] == ["send_message"]


async def test_a_command_knows_who_typed_it_and_where() -> None:
    seen: list[CommandContext] = []

    async def look(ctx: CommandContext) -> None:
        seen.append(ctx)

    async with serving(loaded(commands={"look": FunctionCommand(look)})) as line:
        where = {"bot": BOT, "conversation": {"conversation_id": "c-1"}, "actor": {"actor_type": "user"}}
        await line.command("look", event_id="e-1", **where)
    [ctx] = seen
    assert ctx.bot is not None
    assert ctx.conversation is not None
    assert ctx.actor is not None
    assert (ctx.event_id, ctx.bot.id, ctx.conversation.conversation_id) == ("e-1", "bot-1", "c-1")


async def test_a_command_whose_code_fails_keeps_what_it_said_and_tells_no_secrets() -> None:
    async with commanding() as line:
        stream = line.peer.stream("run_command", {"command": "broken"})
        assert await anext(stream) == {"text": "so far"}
        with pytest.raises(WireError, match="the command 'broken' failed with RuntimeError") as refusal:
            await anext(stream)
        assert await line.command("ping") != []
    assert refusal.value.code == "runtime_error"
    assert "12345" not in refusal.value.message


async def test_what_the_host_refuses_a_command_is_told_with_its_code() -> None:
    async with commanding() as line:
        line.host.answers["send_message"] = WireError("unauthorized", "message.send was not granted")
        with pytest.raises(WireError, match="not granted") as refusal:
            await line.command("quiet")
    assert refusal.value.code == "unauthorized"


async def test_an_answer_that_is_no_message_is_the_commands_failure() -> None:
    async def odd(ctx: CommandContext) -> Any:
        return 5

    async with serving(loaded(commands={"odd": FunctionCommand(odd)})) as line:
        with pytest.raises(WireError, match="the command 'odd' failed"):
            await line.command("odd")


async def test_a_command_that_is_not_there_is_refused_by_name() -> None:
    async with commanding() as line:
        with pytest.raises(WireError, match="no command 'pink'") as refusal:
            await line.command("pink")
    assert refusal.value.code == "not_found"


async def test_a_command_that_is_not_read_to_its_end_is_ended() -> None:
    Count.closed = False
    async with commanding() as line:
        stream = line.peer.stream("run_command", {"command": "count"})
        async for _ in stream:
            break
        await stream.aclose()
        await line.peer.call("list_components")
    assert Count.closed
