"""What agents use of models is added up by who used what, and looked back on by the hour."""

from typing import Any

import pytest

from parlour.core.encoding import dumps
from parlour.core.journal import Statement, Unit
from parlour.core.observability.statistics import HOUR_MILLISECONDS, Statistics
from parlour.core.observability.usage import UsageKey, UsageTotals
from parlour.core.store import ledger
from parlour.core.store.ledger import NewRun
from parlour.testing import MemoryJournal

from ..support import EPOCH


class Clock:
    def __init__(self) -> None:
        self.moment = EPOCH

    def now(self) -> int:
        return self.moment


def run(run_id: str, agent_id: str) -> Statement:
    return ledger.insert_run(
        NewRun(
            run_id=run_id,
            event_seq=1,
            event_id="event",
            agent_id=agent_id,
            binding_id="",
            runner_id="runner",
            plugin_id="plugin",
            conversation_id="conversation",
            thread_id="",
            workspace_id="default",
            bot_id="",
            attempt=1,
            parent_run_id="",
            deadline_at=0,
            snapshot=dumps({}),
            metadata=dumps({}),
            now=EPOCH,
        )
    )


def called(run_id: str, model_id: str, **usage: int) -> Statement:
    told: dict[str, Any] = {"name": model_id, "outcome": "answered", "milliseconds": 5, "usage": usage}
    return ledger.append_event(run_id, 1, "model.called", told, EPOCH, source="host")


def seen(*statements: Statement) -> UsageTotals:
    meter = UsageTotals()
    for statement in statements:
        meter.on_commit(Unit("test", (statement,)))
    return meter


def test_calls_are_added_up_by_agent_and_model() -> None:
    meter = seen(
        run("one", "anna"),
        run("two", "bert"),
        called("one", "big", prompt_tokens=10, completion_tokens=2, cost_micros=7),
        called("one", "big", prompt_tokens=1, completion_tokens=1, cost_micros=1),
        called("two", "small", prompt_tokens=5, completion_tokens=0),
    )

    told = dict(meter.totals())

    assert told[UsageKey("anna", "big", "calls").statistic_name()] == 2
    assert told[UsageKey("anna", "big", "prompt_tokens").statistic_name()] == 11
    assert told[UsageKey("anna", "big", "cost_micros").statistic_name()] == 8
    assert UsageKey("anna", "big", "unpriced_calls").statistic_name() not in told
    assert told[UsageKey("bert", "small", "unpriced_calls").statistic_name()] == 1


@pytest.mark.parametrize(("outcome", "unpriced"), [("cut_off", 1), ("stream_cut", 1), ("key_refused", None)])
def test_a_call_that_may_have_cost_something_unknown_is_told_as_such(outcome: str, unpriced: int | None) -> None:
    failed = ledger.append_event("one", 1, "model.called", {"name": "big", "outcome": outcome}, EPOCH, source="host")

    told = dict(seen(run("one", "anna"), failed).totals())

    assert told.get(UsageKey("anna", "big", "unpriced_calls").statistic_name()) == unpriced


@pytest.mark.parametrize("outcome", ["budget_exceeded", "key_refused", "service_unavailable"])
def test_a_call_that_reached_no_model_is_not_counted(outcome: str) -> None:
    refused = ledger.append_event("one", 1, "model.called", {"name": "big", "outcome": outcome}, EPOCH, source="host")

    assert dict(seen(run("one", "anna"), refused).totals()) == {}


def test_what_a_run_of_an_earlier_life_uses_is_nobodys_and_counts() -> None:
    told = dict(seen(called("unknown", "big", prompt_tokens=3)).totals())

    assert told[UsageKey("", "big", "prompt_tokens").statistic_name()] == 3


async def test_usage_is_read_by_the_hour_and_kept_apart_from_other_figures() -> None:
    clock, meter = Clock(), seen(run("one", "anna"), called("one", "big", prompt_tokens=10))
    statistics = Statistics(MemoryJournal(), (meter,), clock)
    await statistics.write()
    clock.moment += HOUR_MILLISECONDS
    meter.on_commit(Unit("test", (called("one", "big", prompt_tokens=5),)))
    await statistics.write()

    told = [(hour, amount) for hour, of, amount in await statistics.usage(EPOCH) if of.figure == "prompt_tokens"]

    begin = EPOCH // HOUR_MILLISECONDS * HOUR_MILLISECONDS
    assert told == [(begin, 10), (begin + HOUR_MILLISECONDS, 5)]
    assert {of.agent_id for _, of, _ in await statistics.usage(EPOCH)} == {"anna"}
    assert await statistics.since(EPOCH) == []
