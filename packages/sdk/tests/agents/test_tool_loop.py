"""Tests a turn of an agent that is built from the parts alone: rounds of tools, time limits and codes of errors."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from parlour_sdk import AgentRunAPI, AgentRunContext, AgentRunner, Result
from parlour_sdk.agents import (
    ModelChain,
    RunTools,
    SteeringReader,
    ToolLoop,
    TurnError,
    TurnMessages,
    UserMessage,
    selected_models,
)
from parlour_sdk.protocol.models import InvokeModel
from parlour_sdk.testing import FakeHost, FakeRun, failure, reply, tool_call


class PlainAgent(AgentRunner):
    """Answers with the model `m` and the tools of the Host, without history and knowledge."""

    def __init__(self, max_rounds: int = 5, call_timeout: float | None = None) -> None:
        self._max_rounds = max_rounds
        self._call_timeout = call_timeout

    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        try:
            tools = RunTools(ctx, api, self._call_timeout)
            messages = TurnMessages([], [], UserMessage.from_event(ctx).to_message())
            loop = ToolLoop(ModelChain(ctx, api, ["m"]), tools, SteeringReader(ctx, api), max_rounds=self._max_rounds)
            async for result in loop.results(messages, await tools.load()):
                yield result
        except TurnError as error:
            yield error.to_result("plain-agent")


async def answer(model: Any, agent: PlainAgent | None = None, **tools: Any) -> FakeRun:
    return await FakeHost(models={"m": model}, tools=tools).run(agent or PlainAgent(), "go")


async def test_calls_of_one_answer_run_concurrently_and_their_outputs_return_in_order() -> None:
    requests: list[InvokeModel] = []
    both_run = asyncio.Barrier(2)

    async def meet(name: str) -> str:
        await both_run.wait()
        return name

    calls = [tool_call("meet", {"name": name}, id=name) for name in ("first", "second")]
    script = iter([reply("Wait.", tool_calls=calls), "Done."])
    run = await answer(lambda request: requests.append(request) or next(script), meet=meet)

    assert [message.content for message in run.messages] == ["Wait.", "Done."]
    assert [(each.role, each.content) for each in requests[1].messages[2:]] == [("tool", "first"), ("tool", "second")]


async def test_a_slow_tool_is_stopped_at_the_time_limit_of_the_agent() -> None:
    async def slow() -> str:
        await asyncio.Event().wait()
        return ""

    script = [reply(tool_calls=[tool_call("slow")]), "It is late."]
    run = await answer(script, PlainAgent(call_timeout=0.01), slow=slow)

    assert run.text == "It is late."
    [completed] = [each for each in run.results if each.type == "tool.call.completed"]
    assert completed.data["error"] == "The tool did not answer within 0.01 seconds."


@pytest.mark.parametrize("max_rounds", [0, 2])
async def test_after_the_last_round_tools_are_refused(max_rounds: int) -> None:
    run = await answer(reply(tool_calls=[tool_call("clock")]), PlainAgent(max_rounds), clock="noon")

    assert (len(run.tool_calls), run.finish_reason) == (max_rounds, "tool_limit")
    assert run.text == f"I stopped after {max_rounds} rounds of tool calls without coming to an answer."


@pytest.mark.parametrize(
    ("model", "code", "retryable"),
    [
        (failure("runtime_error"), "plain-agent.model_failed", False),
        (failure("runtime_error", retryable=True), "plain-agent.model_failed", True),
        (failure("runtime_error", after="It was a"), "plain-agent.model_failed", False),
        ("", "runner.no_output", False),
        (failure("budget_exceeded"), "budget_exceeded", False),
    ],
)
async def test_a_failed_turn_ends_with_the_code_of_its_cause(model: Any, code: str, retryable: bool) -> None:
    run = await answer(model)
    assert (run.status, run.code, run.retryable) == ("failed", code, retryable)


async def test_an_agent_without_a_granted_model_is_refused() -> None:
    run = await FakeHost(models={"other": "yes"}).run(PlainAgent(), "go")
    assert run.code == "plain-agent.no_model"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ()),
        ({"primary": "a", "fallbacks": ["b", "a", "c"]}, ("a", "b", "c")),
        ({"primary": None, "fallbacks": ["b"]}, ("b",)),
        ({"primary": "a"}, ("a",)),
    ],
)
def test_selected_models_are_read_in_their_order_and_each_once(value: Any, expected: tuple[str, ...]) -> None:
    assert selected_models(value) == expected


@pytest.mark.parametrize("value", ["m", {"primary": 7}, {"primary": "a", "fallbacks": "b"}, {}])
def test_an_invalid_selection_of_models_is_refused_with_the_accepted_form(value: Any) -> None:
    with pytest.raises(TurnError, match=r"^The agent's setting 'model' must be \{\"primary\": ") as failure:
        selected_models(value)
    assert failure.value.to_result("my-agent").data["code"] == "my-agent.configuration"
