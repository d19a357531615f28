"""A real Host forgets in time, also after it was killed while it did."""

import pytest

from .conftest import MakeHost
from .harness import ECHO_PLUGIN, eventually, texts

FORGETFUL = {
    "PARLOUR__RETENTION__EVENTS_DAYS": "0.00001",
    "PARLOUR__RETENTION__FIRST_SECONDS": "0",
    "PARLOUR__RETENTION__EVERY_HOURS": "0.0001",
}


@pytest.mark.long
def test_what_is_too_old_is_gone_and_the_host_goes_on_also_after_it_was_killed(make_host: MakeHost) -> None:
    host = make_host(ECHO_PLUGIN, **FORGETFUL).start()
    agent = host.agent()
    for text in ("one", "two"):
        conversation_id = host.ask(agent, text, conversation_id="chat")["conversation_id"]
        eventually(lambda: host.transcript(conversation_id) == [], "what was said is gone")  # noqa: B023
        host.kill()
        host.start()

    eventually(lambda: host.items("/events", type="message.received") == [], "the events are gone")
    assert texts(host.ask(agent, "three", conversation_id="chat")) == ["three"]
    assert "the clean-up took away" in host.log()
