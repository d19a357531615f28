"""Tests answers and actions on QQ, through adapter, Host, plugin process and back over a real WebSocket."""

import json
from html import unescape
from typing import Any

import pytest

from parlour.testing.onebot_simulator import Simulator, native
from parlour.testing.onebot_simulator.simulator import Format
from tests.support.chat import Chat
from tests.support.harness import Json

from .acting import ANN, ASK, BOSS, EVE, GROUP, agent, decisions, kick, kicks, mention_bot, pending
from .qq import QQ, eventually, to_agent


@pytest.mark.parametrize("text", ["a|b\n" + " " * 80_000 + "|x", "[CQ:at,qq=all" * 80_000])
async def test_an_answer_that_is_slow_to_parse_does_not_delay_other_chats(text: str, qq: QQ, echo: str) -> None:
    """A broken table and an unclosed mention take minutes for expressions that backtrack."""
    bot = qq.bot(to_agent(echo))
    async with bot.connected() as simulator:
        await simulator.say(text, ANN)
        await simulator.answered(2)
        await simulator.say("still here?", BOSS)
        assert [each.text for each in await simulator.answered(1, f"private:{BOSS}")] == ["still here?"]
    bot.delete()


MENTIONS_OF_ALL = [
    "[CQ:at,qq=all]",
    "[cq:AT,QQ=ALL]",
    "[CQ:at,name=all,qq=all]",
    "[CQ:at, qq = all ]",
    "[CQ:at,qq=all",
    "[CQ:at,[CQ:at,qq=all]",
]
CODES = ["&#91;CQ:at,qq=all&#93;", "&amp;#91;CQ:at,qq=all]", "[CQ:image,file=file:///etc/passwd]", "[CQ:poke,qq=1]"]


@pytest.mark.parametrize("message_format", ["array", "string"])
async def test_codes_in_a_models_answer_are_sent_as_plain_text(qq: QQ, echo: str, message_format: Format) -> None:
    bot, said = qq.bot(to_agent(echo)), " ".join(MENTIONS_OF_ALL + CODES)
    async with bot.connected(message_format=message_format) as simulator:
        await simulator.say(said, ANN)
        [shown] = await simulator.answered(1)
    bot.delete()
    assert {each["type"] for each in shown.segments} == {"text"}
    assert shown.text == unescape(said)  # Markdown renders it unchanged, with nothing inserted


async def test_listeners_receive_an_answer_from_which_a_key_was_removed(qq: QQ, echo: str) -> None:
    """Keys are removed from the stored event of an answer; the rest must stay readable."""
    bot = qq.bot(to_agent(echo))
    async with bot.connected() as simulator:
        await simulator.say('curl -H "Authorization: Bearer $KEY" example.org', ANN)
        await simulator.answered(1)
        await simulator.say("thanks", ANN)

        def received_types() -> list[str]:
            types = [each["type"] for each in qq.probed("events") if each["bot_id"] == bot.bot_id]
            return types if types.count("message.responded") == 2 else []

        await eventually(received_types, "a listener hears of both answers")
        noted = qq.host.items("/events", bot_id=bot.bot_id)
    bot.delete()
    assert [each["event_type"] for each in noted].count("message.responded") == 2
    assert "$KEY" not in json.dumps([each for each in noted if each["event_type"] == "message.responded"])


MARKDOWN = "# Plan\n\nFirst **this**, then [that](https://a.example):\n\n- one\n- two\n\n```sh\nls *\n```"


@pytest.mark.parametrize("message_format", ["array", "string"])
async def test_markdown_is_shown_as_plain_text(qq: QQ, echo: str, message_format: Format) -> None:
    bot = qq.bot(to_agent(echo))
    async with bot.connected(message_format=message_format) as simulator:
        await simulator.say(MARKDOWN, ANN)
        [shown] = await simulator.answered(1)
    bot.delete()
    assert shown.text == "Plan\n\nFirst this, then that (https://a.example):\n\n• one\n• two\n\nls *"


async def test_an_approval_by_keyword_resumes_its_waiting_run(qq: QQ) -> None:
    bot = qq.bot(to_agent(await agent(qq, {"member.*": ASK})))
    simulator = Simulator()
    simulator.world.add_group(GROUP, role="admin")
    async with bot.connected(simulator):
        await mention_bot(simulator, kick(wait=30))
        await simulator.answered(1)
        approval = pending(qq)
        await mention_bot(simulator, f"approve {approval['keyword']}", ANN)
        await mention_bot(simulator, f"approve {approval['keyword']}", BOSS)
        await simulator.answered(4)
        texts = [each.text for each in simulator.sent()]
        done = kicks(simulator)
    bot.delete()
    assert [(each["group_id"], each["user_id"]) for each in done] == [(GROUP, EVE)]
    assert f"approve {approval['keyword']}" in texts[0]
    assert "you may not decide this" in texts[1]
    assert set(texts[2:]) == {"Approved.", "member.kick: done"}
    decided = await eventually(lambda: executed_approval(qq, approval["approval_id"]), "the approval has its outcome")
    assert (decided["status"], decided["decided_by"], decided["outcome"]["state"]) == (
        "approved",
        f"user:{BOSS}",
        "sent",
    )
    assert [each["decided_by"] for each in decisions(qq, approval["run_id"])] == [f"user:{BOSS}"]


async def test_a_decision_after_the_end_of_its_run_is_in_the_ledger_of_that_run(qq: QQ) -> None:
    bot = qq.bot(to_agent(await agent(qq, {"member.*": ASK})))
    simulator = Simulator()
    simulator.world.add_group(GROUP, role="admin")
    async with bot.connected(simulator):
        await mention_bot(simulator, kick())
        await simulator.answered(2)
        approval = pending(qq)
        run_id = approval["run_id"]
        await eventually(lambda: qq.host.run(run_id)["finished_at"], "the run is over")
        assert decisions(qq, run_id) == []
        await mention_bot(simulator, f"deny {approval['keyword']} she is nice", BOSS)
        await simulator.answered(3)
        recorded = decisions(qq, run_id)
    bot.delete()
    named = {"approval_id": approval["approval_id"], "action": "member.kick"}
    assert recorded == [{**named, "status": "denied", "decided_by": f"user:{BOSS}", "reason": "she is nice"}]
    assert qq.host.items(f"/runs/{run_id}/events")[-1]["type"] == "approval.decided"
    replayed = qq.host.http().get(f"/runs/{run_id}/replay").json()
    assert replayed["frames"][-1]["status"] == "completed"


async def test_an_action_of_an_injected_event_is_approved_in_its_chat(qq: QQ) -> None:
    bot = qq.bot(to_agent(await agent(qq, {"member.*": ASK})))
    simulator = Simulator()
    simulator.world.add_group(GROUP, role="admin")
    async with bot.connected(simulator):
        room = {"chat_type": "group", "chat_id": str(GROUP)}
        event = {"bot_id": bot.bot_id, "conversation_id": "tonight", "input": {"text": kick(wait=30)}, "data": room}
        brought = qq.host.http(qq.host.key("platform")).post("/events", json=event)
        assert brought.status_code == 202, brought.text
        await simulator.answered(1)
        await mention_bot(simulator, f"approve {pending(qq)['keyword']}", BOSS)
        await simulator.answered(3)
        done = kicks(simulator)
    bot.delete()
    assert [(each["group_id"], each["user_id"]) for each in done] == [(GROUP, EVE)]


def executed_approval(qq: QQ, approval_id: str) -> Json:
    approval = dict(qq.host.http().get(f"/approvals/{approval_id}").json())
    return approval if approval["outcome"] else {}


async def test_an_approval_over_http_after_its_run_ended_starts_the_agent_again(qq: QQ) -> None:
    events = ["message.received", "approval.decided"]
    bot = qq.bot(to_agent(await agent(qq, {"member.*": ASK}, event_types=events)))
    async with bot.connected() as simulator:
        await mention_bot(simulator, kick())
        await simulator.until(lambda: any("pending" in each.text for each in simulator.sent()))
        approval = pending(qq)
        approval_id = approval["approval_id"]
        http = qq.host.http()
        assert http.post(f"/approvals/{approval_id}", json={"decision": "perhaps"}).status_code == 422
        answer = http.post(f"/approvals/{approval_id}", json={"decision": "approve", "reason": "fine"})
        assert answer.status_code == 200, answer.text
        assert http.post(f"/approvals/{approval_id}", json={"decision": "deny"}).status_code == 409
        assert http.post("/approvals/nowhere", json={"decision": "deny"}).status_code == 404
        viewer = qq.host.http(qq.host.key("viewer"))
        assert viewer.post(f"/approvals/{approval_id}", json={"decision": "deny"}).status_code == 403
        await simulator.until(lambda: any("approval.decided approve" in each.text for each in simulator.sent()))
        done = kicks(simulator)
        [recorded] = decisions(qq, approval["run_id"])
    bot.delete()
    assert len(done) == 1
    assert (recorded["status"], recorded["reason"]) == ("approved", "fine")
    assert recorded["decided_by"].startswith("api_key:")


async def test_actions_without_a_policy_and_other_targets_are_refused(qq: QQ) -> None:
    elsewhere = {"chat_type": "private", "chat_id": "99"}
    wanted = [["member.kick", {"user_id": "3"}, None, 0], ["message.send", elsewhere, {"text": "psst"}, 0]]
    bot = qq.bot(to_agent(await agent(qq, {"message.*": "allow"})))
    async with bot.connected() as simulator:
        await mention_bot(simulator, json.dumps(wanted))
        texts = [each.text for each in await simulator.answered(2)]
        sent_elsewhere = simulator.sent("private:99")
        done = kicks(simulator)
    bot.delete()
    assert texts == ["member.kick: denied", "message.send: denied"]
    assert (done, sent_elsewhere) == ([], [])


ACTIONS = [
    (["message.send", None, {"text": "sent"}, 0], "send_group_msg", {"group_id": GROUP}),
    (["message.reply", None, {"text": "replied"}, 0], "send_group_msg", {"group_id": GROUP}),
    (["group.rename", None, {"name": "New"}, 0], "set_group_name", {"group_name": "New"}),
    (["member.mute", {"user_id": "3"}, {"duration": 60}, 0], "set_group_ban", {"user_id": EVE, "duration": 60}),
    (["member.unmute", {"user_id": "3"}, None, 0], "set_group_ban", {"user_id": EVE, "duration": 0}),
    (["member.kick", {"user_id": "3"}, None, 0], "set_group_kick", {"user_id": EVE}),
    (["platform.call", None, {"action": "get_status", "params": {}}, 0], "get_status", {}),
    (["message.delete", None, None, 0], "delete_msg", {}),
    (["group.leave", None, None, 0], "set_group_leave", {"group_id": GROUP}),
]


async def test_every_action_that_the_policy_allows_reaches_the_platform(qq: QQ) -> None:
    bot = qq.bot(to_agent(await agent(qq, {"*": "allow"})))
    simulator = Simulator()
    simulator.world.add_group(GROUP, role="owner")
    async with bot.connected(simulator):
        await mention_bot(simulator, json.dumps([wanted for wanted, _, _ in ACTIONS]))
        await simulator.until(lambda: any(each["action"] == "set_group_leave" for each in simulator.requests))
        said = [each.text for each in simulator.sent() if each.text.endswith(": done")]
        calls = list(simulator.requests)
    bot.delete()
    assert said == [f"{wanted[0]}: done" for wanted, _, _ in ACTIONS[:-1]]
    for _, action, parameters in ACTIONS:
        made = [each["params"] for each in calls if each["action"] == action]
        assert any(parameters.items() <= each.items() for each in made), (action, made)


async def test_an_agent_answers_a_friend_request_if_its_policy_allows_it(qq: QQ) -> None:
    answer = json.dumps([["friend_request.answer", None, {"approve": True, "remark": "a friend"}, 0]])
    policy = {"friend_request.answer": "allow"}
    events = ["friend.request_received"]
    agent_id = await agent(qq, policy, event_types=events, config={"otherwise": answer})
    bot = qq.bot(to_agent(agent_id))
    async with bot.connected() as simulator:
        simulator.world.requests["flag-1"] = {}
        request = native.request(simulator.self_id, "friend", "flag-1", user_id=EVE, comment="hello")
        await simulator.report(request)
        await simulator.until(lambda: any(each["action"] == "set_friend_add_request" for each in simulator.requests))
        [made] = [each["params"] for each in simulator.requests if each["action"] == "set_friend_add_request"]
    bot.delete()
    assert (made["flag"], made["approve"], made["remark"]) == ("flag-1", True, "a friend")


async def test_an_agent_answers_the_join_request_of_its_event_and_no_other_request(qq: QQ) -> None:
    def answer(flag: str) -> list[Any]:
        params = {"flag": flag, "sub_type": "add", "approve": True}
        return ["platform.call", None, {"action": "set_group_add_request", "params": params}, 0]

    script = json.dumps([answer("another"), answer("flag-1")])
    events = ["platform.onebot11.group_join_request"]
    agent_id = await agent(qq, {"platform.call.*": "allow"}, event_types=events, config={"otherwise": script})
    bot = qq.bot(to_agent(agent_id))
    async with bot.connected() as simulator:
        simulator.world.requests["flag-1"] = {}
        request = native.request(simulator.self_id, "group", "flag-1", user_id=EVE, group_id=GROUP, sub_type="add")
        await simulator.report(request)
        said = [each.text for each in await simulator.answered(2)]
        made = [each["params"] for each in simulator.requests if each["action"] == "set_group_add_request"]
    bot.delete()
    assert "'elsewhere/platform.call.set_group_add_request' was not granted" in said[0]
    assert said[1] == "platform.call: done"
    assert [each["flag"] for each in made] == ["flag-1"]


async def test_a_message_to_another_chat_is_approved_in_the_web_chat(qq: QQ) -> None:
    by_requester = {"decision": "ask", "who": {"requester": True}}
    agent_id = await agent(qq, {"elsewhere/message.send": by_requester})
    bot = qq.bot()
    async with bot.connected() as simulator, Chat(qq.host, agent_id) as chat:
        target = {"bot_id": bot.bot_id, "chat_type": "private", "chat_id": "99"}
        await chat.say(json.dumps([["message.send", target, {"text": "hello"}, 30]]))
        answer = await chat.until("approval")
        assert (answer["status"], answer["action"]) == ("pending", "message.send")
        await chat.send(type="approve", approval_id="another", decision="approve")
        assert (await chat.until("error"))["code"] == "not_found"
        stranger = qq.host.key("chat", "stranger")
        async with Chat(qq.host, agent_id, key=stranger) as other:
            await other.send(type="approve", approval_id=answer["approval_id"], decision="approve")
            assert (await other.until("error"))["code"] == "not_found"
        await chat.send(type="approve", approval_id=answer["approval_id"], decision="approve")
        assert (await chat.until("approval"))["status"] == "approved"
        message = await chat.until("message")
        [recorded] = decisions(qq, answer["run_id"])
        sent = [each.text for each in simulator.sent("private:99")]
    bot.delete()
    assert message["message"]["content"] == "message.send: done"
    assert sent == ["hello"]
    assert (recorded["status"], bool(recorded["decided_by"])) == ("approved", True)
