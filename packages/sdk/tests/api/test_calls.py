"""Tests calls of a plugin to the Host: validated, numbered, limited by the deadline, and with structured errors."""

import asyncio
from typing import Any

import pytest

from parlour_sdk.api import AgentRunAPI, InvalidCall, PluginAPI
from parlour_sdk.protocol.errors import CODES, AgentAPIError, AgentAPIException
from parlour_sdk.wire import ConnectionClosed, WireError

from .recording import RecordingCaller


async def failure_of(host: RecordingCaller, seconds_left: float | None = None) -> AgentAPIException:
    with pytest.raises(AgentAPIException) as refusal:
        await AgentRunAPI(host, "run", seconds_left).host.version()
    return refusal.value


async def test_calls_are_numbered_by_run_and_order_across_namespaces() -> None:
    host = RecordingCaller()
    for _ in range(2):
        api = AgentRunAPI(host, "run")
        await api.state.get("actor", "k")
        await api.steering.pull()
        await api.host.version()
    assert [data["call_id"] for _, data, _ in host.requests] == ["run:1", "run:2", "run:3"] * 2
    assert {data["run_id"] for _, data, _ in host.requests} == {"run"}


async def test_concurrent_calls_are_numbered_in_the_order_of_the_code() -> None:
    api = AgentRunAPI(host := RecordingCaller(), "run")
    await asyncio.gather(*(api.tools.call(name) for name in "abc"))
    assert [(data["tool_name"], data["call_id"]) for _, data, _ in host.requests] == [
        ("a", "run:1"),
        ("b", "run:2"),
        ("c", "run:3"),
    ]


async def test_a_stream_is_numbered_when_it_is_created() -> None:
    api = AgentRunAPI(host := RecordingCaller(), "run")
    stream = api.models.stream("m", "hi")
    await api.host.version()
    assert [chunk async for chunk in stream]
    assert [(action, data["call_id"]) for action, data, _ in host.requests] == [
        ("get_host_version", "run:2"),
        ("invoke_llm_stream", "run:1"),
    ]


async def test_a_failed_call_keeps_its_number() -> None:
    host = RecordingCaller(get_host_version=WireError("rate_limited", "slow down"))
    api = AgentRunAPI(host, "run")
    with pytest.raises(AgentAPIException):
        await api.host.version()
    await api.state.get("actor", "k")
    assert [data["call_id"] for _, data, _ in host.requests] == ["run:1", "run:2"]


async def test_calls_outside_a_run_have_unique_ids_and_no_run_id() -> None:
    host = RecordingCaller()
    for api in (PluginAPI(host), PluginAPI(host)):
        await api.host.version()
        await api.host.version()
    assert len({data["call_id"] for _, data, _ in host.requests}) == 4
    assert not any("run_id" in data for _, data, _ in host.requests)


@pytest.mark.parametrize("seconds_left", [0, -5.0])
async def test_a_run_past_its_deadline_sends_no_call(seconds_left: float) -> None:
    host = RecordingCaller()
    assert (await failure_of(host, seconds_left)).code == "deadline_exceeded"
    assert host.requests == []


async def test_the_timeout_of_a_call_is_the_remaining_time_of_the_run() -> None:
    host = RecordingCaller()
    await AgentRunAPI(host, "run", 100).host.version()
    [(_, _, timeout)] = host.requests
    assert timeout is not None
    assert 90 < timeout <= 100


async def test_a_call_of_a_run_without_a_deadline_has_no_timeout() -> None:
    host = RecordingCaller()
    await AgentRunAPI(host, "run").host.version()
    assert host.requests[0][2] is None


async def test_an_error_of_the_host_keeps_code_message_and_details() -> None:
    data = {"retryable": True, "details": {"limit": 50}}
    failure = await failure_of(RecordingCaller(get_host_version=WireError("rate_limited", "slow down", data)))
    assert (failure.code, failure.kind, failure.message) == ("rate_limited", "rate_limited", "slow down")
    assert (failure.retryable, failure.details) == (True, {"limit": 50})
    assert str(failure) == "rate_limited: slow down"


@pytest.mark.parametrize(
    "data", [None, "text", [1], {}, {"details": None}, {"details": [1]}, {"retryable": 0}], ids=repr
)
async def test_an_error_with_invalid_or_missing_data_is_an_api_exception(data: Any) -> None:
    failure = await failure_of(RecordingCaller(get_host_version=WireError("unauthorized", "no", data)))
    assert (failure.code, failure.retryable, failure.details) == ("unauthorized", False, {})


async def test_an_unknown_code_counts_as_a_runtime_error() -> None:
    failure = await failure_of(RecordingCaller(get_host_version=WireError("moon_phase", "not tonight")))
    assert (failure.code, failure.kind) == ("moon_phase", "runtime_error")


@pytest.mark.parametrize("code", CODES)
def test_a_known_code_is_its_own_kind(code: str) -> None:
    assert AgentAPIException(AgentAPIError(code=code, message="")).kind == code


async def test_a_lost_connection_is_a_retryable_runtime_error() -> None:
    failure = await failure_of(RecordingCaller(get_host_version=ConnectionClosed("gone")))
    assert (failure.code, failure.retryable) == ("runtime_error", True)
    assert "gone" in failure.message


async def test_an_invalid_answer_is_a_runtime_error_that_names_the_field() -> None:
    failure = await failure_of(RecordingCaller(get_host_version={"version": "1", "protocol": "one"}))
    assert failure.code == "runtime_error"
    assert "get_host_version" in failure.message
    assert "protocol" in failure.message


async def test_unknown_fields_of_an_answer_are_ignored() -> None:
    host = RecordingCaller(get_host_version={"version": "9", "protocol": 1, "codename": "new"})
    assert (await AgentRunAPI(host, "run").host.version()).version == "9"


async def test_an_invalid_argument_is_refused_before_the_call_is_sent() -> None:
    api = AgentRunAPI(host := RecordingCaller(), "run")
    with pytest.raises(InvalidCall, match=r"^state_get: key: .*255"):
        await api.state.get("actor", "k" * 256)
    with pytest.raises(InvalidCall, match=r"^state_get: scope: .*'conversation'"):
        await api.state.get("planet", "k")  # type: ignore[arg-type]
    with pytest.raises(InvalidCall, match="JSON"):
        await api.tools.call("t", {"when": object()})
    assert host.requests == []


async def test_the_error_for_an_invalid_argument_does_not_repeat_its_value() -> None:
    with pytest.raises(InvalidCall) as error:
        await AgentRunAPI(RecordingCaller(), "run").tools.get(b"secret")  # type: ignore[arg-type]
    assert "secret" not in str(error.value)


async def test_omitted_arguments_are_not_sent_and_none_is_sent_as_null() -> None:
    api = AgentRunAPI(host := RecordingCaller(), "run")
    await api.history.page()
    assert "conversation_id" not in host.data()
    await api.state.set("actor", "k", None)
    assert host.data()["value"] is None
