"""Message policies in the core: what is answered, counted, collected, filtered, and what people read."""

from typing import Any

import pytest
from pydantic import ValidationError

from parlour.core.encoding import loads
from parlour.core.message_policy.effective import decode_policy, override_policy
from parlour.core.message_policy.schema import MessagePolicy
from parlour.core.model.word_list import WordList
from parlour.core.reruns.reruns import RerunOptions
from parlour.core.store.tables import INBOX, LIMITS, OUTBOX, OUTCOMES, RUNS, TRAIL, TRANSCRIPT

from ..support import World, jump, make_agent, settle, until

DAY = 86_400


async def open_world(policy: dict[str, Any], echo: bool = True, **ports: Any) -> World:
    return await World.open(make_agent(message_policy=policy), echo=echo, **ports)


def outcomes(world: World) -> list[str]:
    return [row["outcome"] for row in world.rows(OUTCOMES)]


def notices(world: World) -> list[str]:
    rows = [loads(row["payload"])["message"] for row in world.rows(OUTBOX) if row["kind"] == "notice"]
    return [row["content"] for row in rows]


def replies(world: World) -> list[str]:
    return [row["content"] for row in world.rows(TRANSCRIPT) if row["role"] == "assistant"]


async def test_file_of_a_long_text_is_not_named_if_words_of_it_are_masked() -> None:
    long_text = "x" * 70_000 + " Falcon"
    world = await open_world({})
    await world.say(long_text)
    await world.rest()
    [user, _] = world.rows(TRANSCRIPT)
    assert "artifact_id" in user["artifact_refs"]
    world = await open_world({"filters": {"input": [words("mask", "Falcon")]}})
    await world.say(long_text)
    await world.rest()
    [user, _] = world.rows(TRANSCRIPT)
    assert loads(user["artifact_refs"]) == []
    [run] = world.plugins.runs
    assert "Falcon" not in str(run.context)


async def test_message_that_the_policy_ignores_is_dropped_with_the_reason() -> None:
    world = await open_world({"wake": {"ignore": {"prefixes": ["#"]}}})
    await world.say("# note", surface="api")
    await world.rest()
    [row] = world.rows(OUTCOMES)
    assert (row["outcome"], row["run_id"]) == ("dropped", "")
    assert row["reason"].endswith("message policy: it begins as ignored messages do")


async def test_limit_counts_only_messages_that_are_answered() -> None:
    world = await open_world({"limits": [{"count": 2, "window": "day"}], "filters": {"input": [words("block", "bad")]}})
    for text, event_id in [("1", "a"), ("1", "a"), ("bad", "b"), ("2", "c"), ("3", "d")]:
        await world.say(text, event_id=event_id)
        await world.rest()
    assert outcomes(world) == ["answered", "refused", "answered", "limited"]
    assert [row["used"] for row in world.rows(LIMITS)] == [2]


async def test_limit_is_used_up_per_sender_and_begins_anew_with_the_next_day() -> None:
    world = await open_world({"limits": [{"count": 1, "window": "day"}]})
    for actor in ("ann", "ann", "ben"):
        await world.say("hi", actor=actor)
        await world.rest()
    assert outcomes(world) == ["answered", "limited", "answered"]
    jump(DAY)
    await world.say("hi", actor="ann")
    await world.rest()
    assert outcomes(world)[-1] == "answered"


async def test_limit_survives_a_restart() -> None:
    world = await open_world({"limits": [{"count": 1, "window": "day"}]})
    await world.say("hi")
    await world.rest()
    world = await world.restart()
    await world.say("again")
    await world.rest()
    assert outcomes(world) == ["answered", "limited"]


async def test_new_conversation_does_not_reset_the_limit_of_a_chat() -> None:
    world = await open_world({"limits": [{"per": "chat", "count": 1, "window": "day"}]})
    for text in ("hi", "/new", "hi"):
        await world.say(text)
        await world.rest()
    assert outcomes(world) == ["answered", "control", "limited"]


@pytest.mark.parametrize(
    ("limit", "texts"),
    [
        ({"over": "drop"}, []),
        ({"over": "tell"}, ["You have used up the messages of this time. Please try again later."]),
        ({"over": "tell", "tell": "Enough for today."}, ["Enough for today."]),
    ],
)
async def test_sender_reads_what_the_limit_says(limit: dict[str, Any], texts: list[str]) -> None:
    world = await open_world({"limits": [{"count": 1, "window": "day", **limit}]})
    for _ in range(2):
        await world.say("hi")
        await world.rest()
    assert notices(world) == texts


async def test_message_over_a_waiting_limit_is_answered_when_there_is_room() -> None:
    world = await open_world({"limits": [{"count": 1, "seconds": 60, "over": "wait"}]})
    begin = world.clock.now()
    for _ in range(3):
        await world.say("hi")
    await world.rest()
    assert outcomes(world) == ["answered"] * 3
    assert world.clock.now() - begin >= 60_000


async def test_waiting_message_is_answered_after_a_restart() -> None:
    world = await open_world({"limits": [{"count": 1, "seconds": 60, "over": "wait"}]})
    for _ in range(2):
        await world.say("hi")
    await until(lambda: outcomes(world) == ["answered"])
    world = await world.restart()
    await world.rest()
    assert outcomes(world) == ["answered", "answered"]


async def test_steering_message_is_counted_and_one_too_many_is_not_taken_in() -> None:
    world = await open_world({"limits": [{"count": 2, "window": "day"}]}, echo=False)
    await world.say("first")
    run = await world.plugins.next_run()
    await world.say("second")
    await world.say("third")
    await until(lambda: [row["state"] for row in world.rows(INBOX)] == ["running", "claimed", "owed"])
    await world.call(run, "steering_pull", mode="all")
    run.answer("done")
    await world.rest()
    assert outcomes(world) == ["answered", "answered", "limited"]
    assert [row["used"] for row in world.rows(LIMITS)] == [2]


async def test_retried_run_is_counted_once() -> None:
    world = await open_world({"limits": [{"count": 1, "window": "day"}]}, echo=False)
    await world.say("hi")
    run = await world.plugins.next_run()
    run.send(run.failed(retryable=True))
    (await world.plugins.next_run()).answer("done")
    await world.rest()
    assert outcomes(world) == ["answered"]
    assert [row["used"] for row in world.rows(LIMITS)] == [1]


async def test_quick_messages_are_answered_by_one_run() -> None:
    world = await open_world({"gather": {"seconds": 2}})
    for text in ("one", "two", "three"):
        await world.say(text)
        await settle()
    await world.rest()
    assert len(world.rows(RUNS)) == 1
    assert world.plugins.runs[0].context["input"]["text"] == "one\ntwo\nthree"
    assert outcomes(world) == ["answered"] * 3
    assert [row["content"] for row in world.rows(TRANSCRIPT) if row["role"] == "user"] == ["one", "two", "three"]


async def test_collected_messages_are_counted_one_by_one() -> None:
    world = await open_world({"gather": {"seconds": 2}, "limits": [{"count": 2, "window": "day"}]})
    for text in ("one", "two", "three"):
        await world.say(text)
    await world.rest()
    assert world.plugins.runs[0].context["input"]["text"] == "one\ntwo"
    assert outcomes(world) == ["answered", "answered", "limited"]


async def test_message_of_another_sender_ends_the_collection() -> None:
    world = await open_world({"gather": {"seconds": 5}})
    begin = world.clock.now()
    for text, actor in (("one", "ann"), ("two", "ben"), ("three", "ann")):
        await world.say(text, actor=actor)
    await world.rest()
    assert [run.context["input"]["text"] for run in world.plugins.runs] == ["one", "two", "three"]
    assert world.clock.now() - begin < 15_000


async def test_collection_ends_after_its_longest_time() -> None:
    world = await open_world({"gather": {"seconds": 2, "longest": 3, "messages": 50}})
    begin = world.clock.now()
    await world.say("0")
    for number in range(1, 4):
        await until(lambda number=number: world.clock.now() - begin >= number * 900)
        await world.say(str(number))
    await until(lambda: bool(world.plugins.runs))
    assert world.clock.now() - begin < 3500


async def test_collection_survives_a_restart() -> None:
    world = await open_world({"gather": {"seconds": 5}})
    await world.say("one")
    await world.say("two")
    await settle()
    world = await world.restart()
    await world.rest()
    assert world.plugins.runs[0].context["input"]["text"] == "one\ntwo"
    assert outcomes(world) == ["answered", "answered"]


async def test_failed_run_gives_collected_messages_back() -> None:
    world = await open_world({"gather": {"seconds": 1}}, echo=False)
    await world.say("one")
    await world.say("two")
    run = await world.plugins.next_run()
    run.send(run.failed(retryable=True))
    again = await world.plugins.next_run()
    assert again.context["input"]["text"] == "one\ntwo"
    again.answer("done")
    await world.rest()
    assert outcomes(world) == ["answered", "answered"]


def words(on: str, *each: str, **fields: Any) -> dict[str, Any]:
    return {"use": "words", "config": {"words": list(each)}, "on": on, **fields}


async def test_masked_words_reach_neither_the_agent_nor_the_transcript() -> None:
    world = await open_world({"filters": {"input": [words("mask", "secret")]}})
    await world.say("my Secret is", data={"message_chain": [{"type": "Plain", "text": "my Secret is"}]})
    await world.rest()
    context = world.plugins.runs[0].context
    assert context["input"]["text"] == "my ****** is"
    assert "Secret" not in str(context)
    assert [row["content"] for row in world.rows(TRANSCRIPT)] == ["my ****** is", "my ****** is"]
    [note] = world.rows(TRAIL)
    assert loads(note["data"])["code"] == "policy_filtered_input"


async def test_blocked_message_is_refused_and_its_sender_is_told() -> None:
    world = await open_world({"filters": {"input": [words("block", "bad", tell="Please be kind.")]}})
    await world.say("a bad thing")
    await world.rest()
    assert outcomes(world) == ["refused"]
    assert notices(world) == ["Please be kind."]
    assert not world.plugins.runs


async def test_captions_and_quotes_are_filtered_beside_pictures() -> None:
    world = await open_world({"filters": {"input": [words("block", "bad")]}})
    quote = {"type": "quote", "contents": [{"type": "text", "text": "bad"}]}
    picture = {"type": "image", "url": "https://example.org/a.png", "name": "bad.png"}
    for contents in ([picture], [{"type": "text", "text": "fine"}, quote]):
        await world.say("fine", input={"text": "fine", "contents": contents})
        await world.rest()
    assert outcomes(world) == ["refused", "refused"]


async def test_word_list_is_shared_and_a_change_holds_at_once() -> None:
    config = {"use": "words", "config": {"list_id": "l"}, "on": "block"}
    world = await open_world({"filters": {"input": [config]}})
    await world.core.word_lists.add(WordList("l", "Words", ("bad",), ("b[o0]o",)))
    for text in ("bad", "b0o", "fine"):
        await world.say(text)
        await world.rest()
    await world.core.word_lists.replace(WordList("l", "Words", ("fine",)))
    await world.say("fine")
    await world.rest()
    assert outcomes(world) == ["refused", "refused", "answered", "refused"]


@pytest.mark.parametrize(
    ("filter", "shown"),
    [
        (words("mask", "secret"), "a ****** plan"),
        (words("block", "secret"), "The answer was withheld."),
        (words("replace", "secret", text="No."), "No."),
        ({"use": "regex", "config": {"patterns": ["s[a-z]+t"]}, "on": "mask"}, "a ****** plan"),
    ],
)
async def test_reply_is_filtered_everywhere_it_is_shown(filter: dict[str, Any], shown: str) -> None:
    world = await open_world({"filters": {"output": [filter]}}, echo=False)
    await world.say("hi")
    run = await world.plugins.next_run()
    run.send(run.delta("a sec"), run.delta("ret plan"))
    run.send(run.completed("a secret plan"), run.finished())
    await world.rest()
    assert replies(world) == [shown]
    [row] = [each for each in world.rows(OUTBOX) if each["kind"] == "message"]
    assert loads(row["payload"])["message"]["content"] == shown
    assert [loads(note["data"])["rules"] for note in world.rows(TRAIL)] == [[f"1 ({filter['use']})"]]


async def test_agent_reads_a_message_without_the_prefix_that_woke_it() -> None:
    world = await open_world({"wake": {"groups": {"prefixes": ["ai"]}}})
    await world.say("ai what now", surface="platform", data={"chat_type": "group", "chat_id": "1"})
    await world.rest()
    assert world.plugins.runs[0].context["input"]["text"] == "what now"


async def test_failure_text_of_the_policy_is_shown() -> None:
    world = await open_world({"failure": {"hint": "Sorry ({code})"}}, echo=False)
    await world.say("hi")
    run = await world.plugins.next_run()
    run.send(run.failed("puppet.broken"))
    await world.rest()
    assert notices(world) == ["Sorry (puppet.broken)"]


async def test_failure_is_not_shown_if_the_policy_says_so() -> None:
    world = await open_world({"failure": {"show": "nothing"}}, echo=False)
    await world.say("hi")
    run = await world.plugins.next_run()
    run.send(run.failed())
    await world.rest()
    assert notices(world) == []


def test_route_overrides_only_the_fields_that_it_gives() -> None:
    agent = {"wake": {"groups": {"mention": False, "prefixes": ["a"]}}, "limits": [{"count": 1}]}
    route = {"wake": {"groups": {"mention": True}}, "limits": []}
    assert override_policy(agent, route) == {"wake": {"groups": {"mention": True, "prefixes": ["a"]}}, "limits": []}


def test_agent_without_policy_has_none() -> None:
    assert decode_policy({}) is None


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"wakes": {}}, "wakes"),
        ({"wake": {"groups": {"mentions": True}}}, "wake.groups.mentions"),
        ({"limits": [{"every": 1}]}, "limits.0.every"),
        (
            {"filters": {"input": [{"use": "regex", "config": {"patterns": ["("]}}]}},
            "filters.input.0.regex.config.patterns",
        ),
        ({"reply": {"delay": [2, 1]}}, "reply.delay"),
    ],
)
def test_invalid_policy_is_refused_with_the_path(values: dict[str, Any], path: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        MessagePolicy.model_validate(values)
    assert ".".join(map(str, refusal.value.errors()[0]["loc"])) == path


def test_given_fields_are_stored_and_read_back() -> None:
    values = {"long_text": {"over": 5, "as": "file"}, "limits": [{"count": 3}]}
    policy = MessagePolicy.model_validate(values)
    assert policy.given_fields() == values


async def test_masked_words_reach_no_rerun() -> None:
    world = await open_world({"filters": {"input": [words("mask", "secret")]}}, echo=False)
    await world.say("my secret")
    run = await world.plugins.next_run()
    run.answer("done")
    await world.rest()
    row = world.rows(RUNS)[0]
    rerun = await world.core.reruns.start(row, RerunOptions())
    again = await world.plugins.next_run()
    assert again.context["input"]["text"] == "my ******"
    assert "secret" not in str(again.context["event"])
    assert rerun
