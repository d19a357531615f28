"""Tests feedback through a real Host: given, shown with the run, withdrawn."""

from tests.support.harness import Host


def test_feedback_is_listed_by_agent_shown_with_its_run_and_withdrawn(host: Host) -> None:
    agent_id = host.agent()
    run_id = host.ask(agent_id, "hello")["run"]["run_id"]

    def rate(kind: object) -> int:
        data = {"feedback_id": "mine", "feedback_type": kind, "message_id": run_id}
        body = {"agent_id": agent_id, "event_type": "feedback.received", "data": data}
        answer = host.http().post("/events?wait=result", json=body)
        return answer.status_code

    assert rate(1) == 200
    (listed,) = host.items("/feedback", agent_id=agent_id)
    assert (listed["run_id"], listed["feedback_type"]) == (run_id, 1)
    assert host.run(run_id)["feedback"] == [listed]
    assert host.items("/feedback", agent_id="another") == []
    assert rate(9) == 422
    assert rate(3) == 200
    assert host.items("/feedback", agent_id=agent_id) == host.run(run_id)["feedback"] == []
