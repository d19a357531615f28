"""Tests refused calls of a plugin, which are events of the run that they name. Refusals beyond the first of a minute
are only counted, so this Host must not have seen other refusals before.
"""

import re
import time
from collections.abc import Iterator

import pytest

from tests.support.harness import ECHO, Host, eventually, texts

from .chaos import QUICK_RECOVERY, Chaos, chaos_in


@pytest.fixture(scope="module")
def chaos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chaos]:
    with chaos_in(Host(tmp_path_factory.mktemp("refusals"), **QUICK_RECOVERY)) as chaos:
        yield chaos


def test_another_plugins_run_gets_neither_results_nor_calls(chaos: Chaos) -> None:
    host = chaos.host
    held = host.agent(ECHO, config={"hold_ms": 1500})
    host.send(held, "mine alone", event_id="held")
    victim = host.active_run(held)

    result = chaos.run("foreign_run", victim)

    assert texts(result) == ["the other run could not be reached: unauthorized"]
    [denial] = chaos.denials(victim)
    assert (denial["data"]["action"], denial["data"]["code"]) == ("state_set", "unauthorized")
    assert texts(host.ask(held, "mine alone", event_id="held")) == ["mine alone"]
    assert not any("in another's name" in str(each) for each in host.items(f"/runs/{victim}/events"))


def test_an_ended_run_can_not_be_used_for_calls(chaos: Chaos) -> None:
    result = chaos.run("ended_run")

    denials = eventually(lambda: chaos.denials(result["run"]["run_id"]), "its calls are refused")
    assert {(each["data"]["action"], each["data"]["code"]) for each in denials} == {("state_set", "unauthorized")}


def test_a_flood_of_calls_is_refused_beyond_its_rate_and_slows_itself(chaos: Chaos) -> None:
    started_at = time.monotonic()
    result = chaos.run("flood_calls")
    seconds = time.monotonic() - started_at

    refused, made = map(int, re.findall(r"\d+", texts(result)[0]))
    assert 0 < made - refused <= 100 + 50 * (seconds + 1), "a run may call 100 times at once and then 50 times a second"
    assert 0 < refused < 1000 * (seconds + 1), "frequent refusals slow the plugin"
    denials = chaos.denials(result["run"]["run_id"])
    assert {each["data"]["code"] for each in denials} == {"rate_limited"}
    assert 0 < len(denials) <= 100 * (seconds + 2)
