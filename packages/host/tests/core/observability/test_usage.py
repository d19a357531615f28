"""Model usage of agents is added up by agent and model, and read by hour."""

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


def model_called_event(run_id: str, model_id: str, **usage: int) -> Statement:
    totals_by_name: dict[str, Any] = {"name": model_id, "outcome": "answered", "milliseconds": 5, "usage": usage}
    return ledger.append_event(run_id, 1, "model.called", totals_by_name, EPOCH, source="host")


def observe(*statements: Statement) -> UsageTotals:
    totals = UsageTotals()
    for statement in statements:
        totals.on_commit(Unit("test", (statement,)))
    return totals


def test_calls_are_added_up_by_agent_and_model() -> None:
    totals = observe(
        run("one", "anna"),
        run("two", "bert"),
        model_called_event("one", "big", prompt_tokens=10, completion_tokens=2, cost_micros=7),
        model_called_event("one", "big", prompt_tokens=1, completion_tokens=1, cost_micros=1),
        model_called_event("two", "small", prompt_tokens=5, completion_tokens=0),
    )

    totals_by_name = dict(totals.totals())

    assert totals_by_name[UsageKey("anna", "big", "calls").statistic_name()] == 2
    assert totals_by_name[UsageKey("anna", "big", "prompt_tokens").statistic_name()] == 11
    assert totals_by_name[UsageKey("anna", "big", "cost_micros").statistic_name()] == 8
    assert UsageKey("anna", "big", "unpriced_calls").statistic_name() not in totals_by_name
    assert totals_by_name[UsageKey("bert", "small", "unpriced_calls").statistic_name()] == 1


@pytest.mark.parametrize(("outcome", "unpriced"), [("cut_off", 1), ("stream_cut", 1), ("key_refused", None)])
def test_call_with_unknown_cost_is_counted_as_unpriced(outcome: str, unpriced: int | None) -> None:
    failed = ledger.append_event("one", 1, "model.called", {"name": "big", "outcome": outcome}, EPOCH, source="host")

    totals_by_name = dict(observe(run("one", "anna"), failed).totals())

    assert totals_by_name.get(UsageKey("anna", "big", "unpriced_calls").statistic_name()) == unpriced


@pytest.mark.parametrize("outcome", ["budget_exceeded", "key_refused", "service_unavailable"])
def test_a_call_that_reached_no_model_is_not_counted(outcome: str) -> None:
    refused = ledger.append_event("one", 1, "model.called", {"name": "big", "outcome": outcome}, EPOCH, source="host")

    assert dict(observe(run("one", "anna"), refused).totals()) == {}


def test_usage_of_an_unknown_run_is_counted_without_agent() -> None:
    totals_by_name = dict(observe(model_called_event("unknown", "big", prompt_tokens=3)).totals())

    assert totals_by_name[UsageKey("", "big", "prompt_tokens").statistic_name()] == 3


async def test_hourly_usage_is_separate_from_other_statistics() -> None:
    clock, totals = Clock(), observe(run("one", "anna"), model_called_event("one", "big", prompt_tokens=10))
    statistics = Statistics(MemoryJournal(), (totals,), clock)
    await statistics.write()
    clock.moment += HOUR_MILLISECONDS
    totals.on_commit(Unit("test", (model_called_event("one", "big", prompt_tokens=5),)))
    await statistics.write()

    totals_by_name = [
        (hour, amount) for hour, of, amount in await statistics.usage(EPOCH) if of.figure == "prompt_tokens"
    ]

    begin = EPOCH // HOUR_MILLISECONDS * HOUR_MILLISECONDS
    assert totals_by_name == [(begin, 10), (begin + HOUR_MILLISECONDS, 5)]
    assert {of.agent_id for _, of, _ in await statistics.usage(EPOCH)} == {"anna"}
    assert await statistics.since(EPOCH) == []
