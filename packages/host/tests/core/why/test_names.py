"""A trail has names for bots, agents and the Host's own people; what is gone keeps its id."""

from parlour.core.approvals.decisions import Decider
from parlour.core.encoding import dumps
from parlour.core.journal import Insert, Table, Unit
from parlour.core.model.event import Participant
from parlour.core.observability.explain.explanations import Explanations
from parlour.core.store.tables import API_KEYS, APPROVALS, BOTS, EVENTS, RUNS, USERS
from parlour.core.system import SystemClock

from ..approvals.support import ASK, Group

OLGA = Participant("user", "u1", "Olga")
KEY = Participant("api_key", "k1", "me")


async def asked_twice() -> Group:
    """And decided by a person and by a key of the Host's."""
    group = await Group.open({"member.kick": ASK})
    run = await group.run()
    for user in ("eve", "mallory"):
        await group.ask(run, "member.kick", {"user_id": user})
    run.answer("I asked")
    await group.world.rest()
    for row, decider in zip(group.rows(APPROVALS), (OLGA, KEY), strict=True):
        await group.world.core.approvals.decide(row["approval_id"], "deny", Decider(decider, operator=True))
    return group


async def keep(group: Group) -> None:
    [run] = group.rows(RUNS)
    rows: list[tuple[Table, dict[str, str | int]]] = [
        (BOTS, {"bot_id": run["bot_id"], "definition": dumps({"name": "Gate"})}),
        (USERS, {"user_id": "u1", "name": "Olga", "email": "olga@example.org"}),
        (API_KEYS, {"key_id": "k1", "name": "me"}),
    ]
    for table, values in rows:
        blank = {column.name: 0 if column.kind == "integer" else "" for column in table.columns}
        await group.world.journal.commit(Unit("test", (Insert(table, {**blank, **values}),)))


async def told(group: Group, reruns: bool = True) -> str:
    [event] = [row for row in group.rows(EVENTS) if row["event_type"] == "message.received"]
    found = await Explanations(group.world.journal, SystemClock()).explain(event, reruns)
    return " ".join(step.text for step in found.steps)


async def test_what_is_there_is_named() -> None:
    group = await asked_twice()
    await keep(group)
    trail = await told(group)
    assert "on bot 'Gate', by" in trail
    assert "with agent 'agent' on" in trail  # which is its name too
    assert "Olga denied member.kick." in trail
    assert "API key 'me' denied member.kick." in trail


async def test_what_is_gone_keeps_its_id() -> None:
    group = await asked_twice()
    trail = await told(group)
    assert "on bot bot, by" in trail
    assert "u1 denied member.kick." in trail


async def test_who_may_not_look_around_is_not_told_who_the_hosts_people_are() -> None:
    group = await asked_twice()
    await keep(group)
    assert "Olga" not in await told(group, reruns=False)
