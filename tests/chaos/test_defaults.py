"""Tests the default limits of a Host: a plugin that harms itself serves again without an operator."""

from pathlib import Path

import pytest

from tests.support.harness import Host, eventually

from .chaos import CHAOS, chaos_in
from .expectations import ENDED

QUARANTINED = "This message could not be answered: the agent failed on it more than once."
SECONDS = 120.0


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("behaviour", [each.behaviour for each in ENDED])
def test_a_plugin_that_fails_twice_on_a_message_serves_again_by_itself(tmp_path: Path, behaviour: str) -> None:
    with chaos_in(Host(tmp_path, PARLOUR__PLUGINS__SANDBOX="required")) as chaos:
        sent = chaos.host.send(chaos.host.agent(CHAOS, behaviour, config={"behaviour": behaviour}), "go on")

        def last_entry() -> tuple[str, str]:
            return chaos.host.transcript(sent["conversation_id"])[-1]

        eventually(lambda: last_entry() == ("notice", QUARANTINED), "its sender is notified", SECONDS)
        eventually(lambda: chaos.plugin()["status"] == "ready", "it serves again", SECONDS)
        assert "it was started again after this" in chaos.plugin()["reason"]
        chaos.check_recovery()
        assert chaos.host.process.pid == chaos.pid
