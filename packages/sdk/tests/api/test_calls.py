"""How a run calls the Host: numbered, bounded by its deadline, with errors that a runner can act on."""

from typing import Any

import pytest

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.run_api import HostVersionGet, StateDelete, StateGet, StateList, StateSet, SteeringPull
from parlour_sdk.wire import ConnectionClosed, WireError

REQUESTS = {
    "state_get": StateGet,
    "state_set": StateSet,
    "state_delete": StateDelete,
    "state_list": StateList,
    "steering_pull": SteeringPull,
    "get_host_version": HostVersionGet,
}


class FakeHost:
    """Answers what it was told to, and remembers what it was asked."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[tuple[str, dict[str, Any], float | None]] = []

    async def call(self, action: str, data: Any, timeout: float | None = None) -> Any:
        self.asked.append((action, data, timeout))
        REQUESTS[action].model_validate(data)
        answer = self.answers[action]
        if isinstance(answer, Exception):
            raise answer
        return answer


async def refused(host: FakeHost, seconds_left: float | None = None) -> AgentAPIException:
    with pytest.raises(AgentAPIException) as refusal:
        await AgentRunAPI(host, "run", seconds_left).host.version()
    return refusal.value


async def test_calls_are_numbered_by_run_and_order_across_namespaces() -> None:
    host = FakeHost(
        state_get={"found": False}, steering_pull={"items": []}, get_host_version={"version": "1", "protocol": 1}
    )
    for _ in range(2):
        api = AgentRunAPI(host, "run")
        await api.state.get("actor", "k")
        await api.steering.pull()
        await api.host.version()
    ids = [data["call_id"] for _, data, _ in host.asked]
    assert ids == ["run:1", "run:2", "run:3"] * 2
    assert {data["run_id"] for _, data, _ in host.asked} == {"run"}


async def test_a_call_that_failed_has_used_up_its_number() -> None:
    host = FakeHost(get_host_version=WireError("rate_limited", "slow down"), state_get={"found": False})
    api = AgentRunAPI(host, "run")
    with pytest.raises(AgentAPIException):
        await api.host.version()
    await api.state.get("actor", "k")
    assert [data["call_id"] for _, data, _ in host.asked] == ["run:1", "run:2"]


@pytest.mark.parametrize("seconds_left", [0, -5.0])
async def test_a_run_whose_time_is_over_calls_nobody(seconds_left: float) -> None:
    host = FakeHost()
    assert (await refused(host, seconds_left)).code == "deadline_exceeded"
    assert host.asked == []


async def test_a_call_is_bounded_by_the_time_that_is_left() -> None:
    host = FakeHost(get_host_version={"version": "1", "protocol": 1})
    await AgentRunAPI(host, "run", 100).host.version()
    [(_, _, timeout)] = host.asked
    assert timeout is not None
    assert 90 < timeout <= 100


async def test_a_run_without_a_deadline_sets_no_bound() -> None:
    host = FakeHost(get_host_version={"version": "1", "protocol": 1})
    await AgentRunAPI(host, "run").host.version()
    assert host.asked[0][2] is None


async def test_a_refusal_keeps_its_code_sentence_and_details() -> None:
    data = {"retryable": True, "details": {"limit": 50}}
    failure = await refused(FakeHost(get_host_version=WireError("rate_limited", "slow down", data)))
    assert failure.error.model_dump() == {
        "code": "rate_limited",
        "message": "slow down",
        "retryable": True,
        "details": {"limit": 50},
    }


@pytest.mark.parametrize(
    "data", [None, "text", [1], {}, {"details": None}, {"details": [1]}, {"retryable": 0}], ids=repr
)
async def test_a_refusal_with_odd_or_no_extras_is_still_an_api_exception(data: Any) -> None:
    failure = await refused(FakeHost(get_host_version=WireError("unauthorized", "no", data)))
    assert (failure.code, failure.error.retryable, failure.error.details) == ("unauthorized", False, {})


async def test_a_lost_connection_is_an_api_exception_too() -> None:
    failure = await refused(FakeHost(get_host_version=ConnectionClosed("gone")))
    assert failure.code == "connection_closed"


async def test_state_is_read_with_a_default_for_what_is_not_there() -> None:
    api = AgentRunAPI(FakeHost(state_get={"found": False}), "run")
    assert await api.state.get("actor", "k", 5) == 5
    api = AgentRunAPI(FakeHost(state_get={"found": True, "value": None}), "run")
    assert await api.state.get("actor", "k", 5) is None


async def test_state_is_written_deleted_and_listed() -> None:
    host = FakeHost(state_set={}, state_delete={}, state_list={"keys": ["a"], "has_more": True})
    api = AgentRunAPI(host, "run")
    await api.state.set("actor", "k", {"v": 1})
    await api.state.delete("actor", "k")
    listed = await api.state.list("actor", prefix="a")
    assert (listed.keys, listed.has_more) == (["a"], True)
    assert [action for action, _, _ in host.asked] == ["state_set", "state_delete", "state_list"]
    assert host.asked[0][1]["value"] == {"v": 1}


async def test_steering_gives_the_items_and_asks_as_told() -> None:
    item = {
        "claimed_run_id": "run",
        "runner_id": "r",
        "event": {"event_id": "e", "event_type": "message.received", "source": "api"},
        "input": {"text": "more"},
    }
    host = FakeHost(steering_pull={"items": [item]})
    [pulled] = await AgentRunAPI(host, "run").steering.pull("one-at-a-time", limit=3)
    assert pulled.input.text == "more"
    assert host.asked[0][1]["mode"] == "one-at-a-time"
    assert host.asked[0][1]["limit"] == 3


async def test_an_answer_with_more_than_is_known_is_fine() -> None:
    host = FakeHost(get_host_version={"version": "9", "protocol": 1, "codename": "new"})
    assert (await AgentRunAPI(host, "run").host.version()).version == "9"
