"""How a plugin calls the Host: checked, numbered, bounded by its deadline, with errors that it can act on."""

import asyncio
from typing import Any

import pytest

from parlour_sdk.api import AgentRunAPI, InvalidCall, PluginAPI
from parlour_sdk.protocol.errors import CODES, AgentAPIError, AgentAPIException
from parlour_sdk.wire import ConnectionClosed, WireError

from .recording import Recording


async def refused(host: Recording, seconds_left: float | None = None) -> AgentAPIException:
    with pytest.raises(AgentAPIException) as refusal:
        await AgentRunAPI(host, "run", seconds_left).host.version()
    return refusal.value


async def test_calls_are_numbered_by_run_and_order_across_namespaces() -> None:
    host = Recording()
    for _ in range(2):
        api = AgentRunAPI(host, "run")
        await api.state.get("actor", "k")
        await api.steering.pull()
        await api.host.version()
    assert [data["call_id"] for _, data, _ in host.asked] == ["run:1", "run:2", "run:3"] * 2
    assert {data["run_id"] for _, data, _ in host.asked} == {"run"}


async def test_calls_made_at_the_same_time_are_numbered_as_they_are_written() -> None:
    api = AgentRunAPI(host := Recording(), "run")
    await asyncio.gather(*(api.tools.call(name) for name in "abc"))
    assert [(data["tool_name"], data["call_id"]) for _, data, _ in host.asked] == [
        ("a", "run:1"),
        ("b", "run:2"),
        ("c", "run:3"),
    ]


async def test_a_stream_has_its_number_from_where_it_was_asked_for() -> None:
    api = AgentRunAPI(host := Recording(), "run")
    stream = api.models.stream("m", "hi")
    await api.host.version()
    assert [chunk async for chunk in stream]
    assert [(action, data["call_id"]) for action, data, _ in host.asked] == [
        ("get_host_version", "run:2"),
        ("invoke_llm_stream", "run:1"),
    ]


async def test_a_call_that_failed_has_used_up_its_number() -> None:
    host = Recording(get_host_version=WireError("rate_limited", "slow down"))
    api = AgentRunAPI(host, "run")
    with pytest.raises(AgentAPIException):
        await api.host.version()
    await api.state.get("actor", "k")
    assert [data["call_id"] for _, data, _ in host.asked] == ["run:1", "run:2"]


async def test_outside_a_run_calls_name_no_run_and_no_two_processes_share_an_id() -> None:
    host = Recording()
    for api in (PluginAPI(host), PluginAPI(host)):
        await api.host.version()
        await api.host.version()
    assert len({data["call_id"] for _, data, _ in host.asked}) == 4
    assert not any("run_id" in data for _, data, _ in host.asked)


@pytest.mark.parametrize("seconds_left", [0, -5.0])
async def test_a_run_whose_time_is_over_calls_nobody(seconds_left: float) -> None:
    host = Recording()
    assert (await refused(host, seconds_left)).code == "deadline_exceeded"
    assert host.asked == []


async def test_a_call_is_bounded_by_the_time_that_is_left() -> None:
    host = Recording()
    await AgentRunAPI(host, "run", 100).host.version()
    [(_, _, timeout)] = host.asked
    assert timeout is not None
    assert 90 < timeout <= 100


async def test_a_run_without_a_deadline_sets_no_bound() -> None:
    host = Recording()
    await AgentRunAPI(host, "run").host.version()
    assert host.asked[0][2] is None


async def test_a_refusal_keeps_its_code_sentence_and_details() -> None:
    data = {"retryable": True, "details": {"limit": 50}}
    failure = await refused(Recording(get_host_version=WireError("rate_limited", "slow down", data)))
    assert (failure.code, failure.kind, failure.message) == ("rate_limited", "rate_limited", "slow down")
    assert (failure.retryable, failure.details) == (True, {"limit": 50})
    assert str(failure) == "rate_limited: slow down"


@pytest.mark.parametrize(
    "data", [None, "text", [1], {}, {"details": None}, {"details": [1]}, {"retryable": 0}], ids=repr
)
async def test_a_refusal_with_odd_or_no_extras_is_still_an_api_exception(data: Any) -> None:
    failure = await refused(Recording(get_host_version=WireError("unauthorized", "no", data)))
    assert (failure.code, failure.retryable, failure.details) == ("unauthorized", False, {})


async def test_an_unknown_code_counts_as_a_runtime_error() -> None:
    failure = await refused(Recording(get_host_version=WireError("moon_phase", "not tonight")))
    assert (failure.code, failure.kind) == ("moon_phase", "runtime_error")


@pytest.mark.parametrize("code", CODES)
def test_a_known_code_is_its_own_kind(code: str) -> None:
    assert AgentAPIException(AgentAPIError(code=code, message="")).kind == code


async def test_a_lost_connection_is_a_runtime_error_that_may_be_tried_again() -> None:
    failure = await refused(Recording(get_host_version=ConnectionClosed("gone")))
    assert (failure.code, failure.retryable) == ("runtime_error", True)
    assert "gone" in failure.message


async def test_an_answer_that_is_not_as_agreed_is_a_runtime_error_that_names_the_field() -> None:
    failure = await refused(Recording(get_host_version={"version": "1", "protocol": "one"}))
    assert failure.code == "runtime_error"
    assert "get_host_version" in failure.message
    assert "protocol" in failure.message


async def test_an_answer_with_more_than_is_known_is_fine() -> None:
    host = Recording(get_host_version={"version": "9", "protocol": 1, "codename": "new"})
    assert (await AgentRunAPI(host, "run").host.version()).version == "9"


async def test_a_mistake_is_an_error_where_it_is_made_and_nothing_is_sent() -> None:
    api = AgentRunAPI(host := Recording(), "run")
    with pytest.raises(InvalidCall, match=r"^state_get: key: .*255"):
        await api.state.get("actor", "k" * 256)
    with pytest.raises(InvalidCall, match=r"^state_get: scope: .*'conversation'"):
        await api.state.get("planet", "k")  # type: ignore[arg-type]
    with pytest.raises(InvalidCall, match="JSON"):
        await api.tools.call("t", {"when": object()})
    assert host.asked == []


async def test_a_mistake_is_told_without_its_value() -> None:
    with pytest.raises(InvalidCall) as mistake:
        await AgentRunAPI(Recording(), "run").tools.get(b"secret")  # type: ignore[arg-type]
    assert "secret" not in str(mistake.value)


async def test_nothing_is_sent_for_what_was_not_given_and_null_for_what_was_given_as_null() -> None:
    api = AgentRunAPI(host := Recording(), "run")
    await api.history.page()
    assert "conversation_id" not in host.data()
    await api.state.set("actor", "k", None)
    assert host.data()["value"] is None
