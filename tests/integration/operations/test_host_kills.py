"""Tests a Host that is killed: complete answers stay answers, and messages are not blamed for the kill."""

from tests.integration.conftest import MakeHost
from tests.support.harness import PUPPET, PUPPET_PLUGIN, Host, eventually, texts


def running(host: Host, number: int, attempt: int) -> bool:
    runs = host.items("/runs", status="running")
    return [run["attempt"] for run in runs] == [attempt] * number


def test_a_complete_answer_is_not_reported_as_interrupted_when_the_host_is_killed_before_its_run_ended(
    make_host: MakeHost,
) -> None:
    host = make_host(PUPPET_PLUGIN).start()
    agent = host.agent(PUPPET)
    sent = host.send(agent, "linger all of it", event_id="answered")
    said = [("user", "linger all of it"), ("assistant", "all of it")]
    eventually(lambda: host.transcript(sent["conversation_id"]) == said, "the answer is there")

    host.kill()
    host.start()

    result = host.ask(agent, "linger all of it", event_id="answered")
    assert (result["outcome"], result["run"]["status"]) == ("answered", "completed")
    assert texts(result) == ["all of it"]
    assert host.transcript(sent["conversation_id"]) == said
    assert len(host.items("/runs")) == 1


def test_messages_that_were_active_together_at_two_kills_of_the_host_are_answered_on_the_third_attempt(
    make_host: MakeHost,
) -> None:
    host = make_host(PUPPET_PLUGIN).start()
    agent = host.agent(PUPPET)
    opened = host.shared_file("open")
    for event_id in ("one", "two"):
        host.send(agent, f"gate {opened}", event_id=event_id)
    for attempt in (1, 2):
        eventually(lambda number=attempt: running(host, 2, number), "both are being answered")
        host.kill()
        host.start()
    eventually(lambda: running(host, 2, 3), "both are tried a third time")
    opened.touch()

    for event_id in ("one", "two"):
        result = host.ask(agent, f"gate {opened}", event_id=event_id)
        assert (result["outcome"], texts(result)) == ("answered", ["waiting is over"])


def test_a_message_that_was_active_alone_at_two_kills_of_the_host_is_quarantined_and_its_sender_notified(
    make_host: MakeHost,
) -> None:
    host = make_host(PUPPET_PLUGIN).start()
    agent = host.agent(PUPPET)
    host.send(agent, "sleep", event_id="alone", actor={"actor_id": "li", "metadata": {"locale": "zh-CN"}})
    for attempt in (1, 2):
        eventually(lambda number=attempt: running(host, 1, number), "it is being answered")
        host.kill()
        host.start()

    result = host.ask(agent, "sleep", event_id="alone")
    assert result["outcome"] == "quarantined"
    assert texts(result) == ["这条消息无法回答：每次处理它时服务都停止了。"]
