"""An explanation has the names of bots, agents, users and keys; deleted ones keep their id."""

from parlour.core.approvals.decisions import Decider
from parlour.core.encoding import dumps
from parlour.core.journal import Insert, Table, Unit
from parlour.core.model.event import Participant
from parlour.core.observability.explain.explanations import Explanations
from parlour.core.store.tables import API_KEYS, APPROVALS, BOTS, EVENTS, RUNS, USERS
from parlour.core.system import SystemClock

from ...approvals.approval_support import ASK, Group

OLGA = Participant("user", "u1", "Olga")
KEY = Participant("api_key", "k1", "me")


async def open_decided_group() -> Group:
    """Opens a group with two requests, decided by a user and by an API key."""
    group = await Group.open({"member.kick": ASK})
    run = await group.run()
    for user in ("eve", "mallory"):
        await group.ask(run, "member.kick", {"user_id": user})
    run.answer("I asked")
    await group.world.rest()
    for row, decider in zip(group.rows(APPROVALS), (OLGA, KEY), strict=True):
        await group.world.core.approvals.decide(row["approval_id"], "deny", Decider(decider, operator=True))
    return group


async def insert_names(group: Group) -> None:
    [run] = group.rows(RUNS)
    rows: list[tuple[Table, dict[str, str | int]]] = [
        (BOTS, {"bot_id": run["bot_id"], "definition": dumps({"name": "Gate"})}),
        (USERS, {"user_id": "u1", "name": "Olga", "email": "olga@example.org"}),
        (API_KEYS, {"key_id": "k1", "name": "me"}),
    ]
    for table, values in rows:
        blank = {column.name: 0 if column.kind == "integer" else "" for column in table.columns}
        await group.world.journal.commit(Unit("test", (Insert(table, {**blank, **values}),)))


async def explanation_text(group: Group, reruns: bool = True) -> str:
    [event] = [row for row in group.rows(EVENTS) if row["event_type"] == "message.received"]
    found = await Explanations(group.world.journal, SystemClock()).explain(event, reruns)
    return " ".join(step.text for step in found.steps)


async def test_existing_items_are_named() -> None:
    group = await open_decided_group()
    await insert_names(group)
    trail = await explanation_text(group)
    assert "on bot 'Gate', by" in trail
    assert "with agent 'agent' on" in trail  # which is its name too
    assert "Olga denied member.kick." in trail
    assert "API key 'me' denied member.kick." in trail


async def test_deleted_items_keep_their_id() -> None:
    group = await open_decided_group()
    trail = await explanation_text(group)
    assert "on bot bot, by" in trail
    assert "u1 denied member.kick." in trail


async def test_explanation_without_reruns_hides_names_of_users() -> None:
    group = await open_decided_group()
    await insert_names(group)
    assert "Olga" not in await explanation_text(group, reruns=False)
