"""Feedback is stored by its id, linked to the rated run, and reaches only agents that subscribe to it."""

from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.journal import Row, Unit, Update, where
from parlour.core.model.providers import ProviderFailed
from parlour.core.store.tables import EVENTS, FEEDBACK, INBOX, OUTBOX, OUTCOMES, RUNS, TRANSCRIPT

from ..support import World, make_agent

LIKE, DISLIKE, WITHDRAW = 1, 2, 3


async def rate(world: World, kind: Any, feedback_id: Any = "one", **fields: Any) -> None:
    data = {"feedback_id": feedback_id, "feedback_type": kind, **fields.pop("data", {})}
    await world.say("", event_type="feedback.received", data=data, input={}, **fields)
    await world.rest()


async def open_answered(surface: str = "platform", **world_fields: Any) -> tuple[World, Row]:
    world = await World.open(echo=True, **world_fields)
    await world.say("hello", surface=surface)
    await world.rest()
    (run,) = world.rows(RUNS)
    return world, run


async def test_feedback_is_linked_to_run_and_agent_by_the_platform_message() -> None:
    world, run = await open_answered()
    (shown,) = world.rows(OUTBOX)
    data = {"message_id": shown["platform_message_id"], "feedback_content": "meh", "inaccurate_reasons": ["wrong"]}
    await rate(world, DISLIKE, surface="platform", data=data)

    (row,) = world.rows(FEEDBACK)
    assert (row["run_id"], row["agent_id"]) == (run["run_id"], "agent")
    assert row["conversation_id"] == run["conversation_id"]
    assert (row["feedback_type"], row["content"], loads(row["reasons"])) == (DISLIKE, "meh", ["wrong"])
    assert row["user_id"] == "ann"


@pytest.mark.parametrize("name", ["outbox", "transcript", "run"])
async def test_any_id_of_an_answer_in_the_web_chat_is_accepted(name: str) -> None:
    world, run = await open_answered("webui")
    names = {
        "outbox": world.rows(OUTBOX)[0]["outbox_id"],
        "transcript": world.rows(TRANSCRIPT, role="assistant")[0]["transcript_id"],
        "run": run["run_id"],
    }
    await rate(world, LIKE, data={"message_id": names[name]})

    assert [row["run_id"] for row in world.rows(FEEDBACK)] == [run["run_id"]]


async def test_same_id_updates_and_keeps_its_link() -> None:
    world, run = await open_answered("webui")
    await rate(world, LIKE, data={"message_id": run["run_id"]})
    await rate(world, DISLIKE, data={"feedback_content": "on second thought"})

    (row,) = world.rows(FEEDBACK)
    assert (row["feedback_type"], row["content"], row["run_id"]) == (DISLIKE, "on second thought", run["run_id"])


async def test_withdrawn_feedback_has_no_content() -> None:
    world, run = await open_answered("webui")
    await rate(world, DISLIKE, data={"message_id": run["run_id"], "feedback_content": "oops"})
    await rate(world, WITHDRAW, data={"feedback_content": "oops"})

    (row,) = world.rows(FEEDBACK)
    assert (row["feedback_type"], row["content"], row["reasons"]) == (WITHDRAW, "", "[]")


async def test_feedback_on_an_invisible_answer_is_not_linked() -> None:
    world, run = await open_answered("webui")
    await rate(world, LIKE, principal="key:2", data={"message_id": run["run_id"]})

    (row,) = world.rows(FEEDBACK)
    assert (row["run_id"], row["conversation_id"]) == ("", "")


async def test_same_id_of_two_users_is_two_ratings() -> None:
    world, _ = await open_answered("webui")
    await rate(world, LIKE)
    await rate(world, DISLIKE, principal="key:2")

    assert sorted(row["feedback_type"] for row in world.rows(FEEDBACK)) == [LIKE, DISLIKE]


async def test_message_id_shared_by_chats_is_resolved_in_the_rated_chat() -> None:
    world = await World.open(echo=True)
    for chat in ("one", "two"):
        await world.say(chat, surface="platform", chat=chat)
        await world.rest()
    same = Update(OUTBOX, {"platform_message_id": "7"}, where(bot_id="bot"), expect=2)
    await world.journal.commit(Unit("test.number", (same,)))
    await rate(world, LIKE, surface="platform", chat="two", data={"message_id": "7"})

    (row,) = world.rows(FEEDBACK)
    assert row["run_id"] == world.rows(RUNS)[1]["run_id"]


async def test_feedback_without_a_subscriber_is_stored_and_not_answered() -> None:
    world, run = await open_answered("webui")
    said = len(world.rows(OUTBOX))
    await rate(world, LIKE, data={"message_id": run["run_id"]})

    assert len(world.rows(OUTBOX)) == said
    assert world.rows(INBOX) == []
    assert [row["outcome"] for row in world.rows(OUTCOMES)][-1] == "dropped"


async def test_subscribed_agent_receives_feedback() -> None:
    agent = make_agent(event_types=("message.received", "feedback.received"))
    world, run = await open_answered("webui", agent=agent)
    world.plugins.echo = False
    data = {"feedback_id": "one", "feedback_type": LIKE, "message_id": run["run_id"]}
    await world.say("", event_type="feedback.received", data=data, input={})
    while (notified_run := await world.plugins.next_run()).run_id == run["run_id"]:
        pass

    assert notified_run.context["event"]["event_type"] == "feedback.received"
    notified_run.answer("thank you")
    await world.rest()


@pytest.mark.parametrize(
    ("field", "data"),
    [
        ("feedback_type", {"feedback_id": "one", "feedback_type": 4}),
        ("feedback_type", {"feedback_id": "one", "feedback_type": True}),
        ("feedback_type", {"feedback_id": "one"}),
        ("feedback_id", {"feedback_type": 1}),
        ("feedback_id", {"feedback_type": 1, "feedback_id": 7}),
        ("feedback_content", {"feedback_type": 1, "feedback_id": "one", "feedback_content": ["x"]}),
        ("inaccurate_reasons", {"feedback_type": 1, "feedback_id": "one", "inaccurate_reasons": "x"}),
    ],
)
async def test_invalid_feedback_is_refused_with_its_field(field: str, data: dict[str, Any]) -> None:
    world = await World.open()
    with pytest.raises(ProviderFailed, match=f"data.{field}: it must be"):
        await world.say("", event_type="feedback.received", data=data)

    assert world.rows(EVENTS) == []
