"""Controls the chaos agent in a Host: sets its behaviour, waits until it has recovered, and reads the effects."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.harness import ECHO_PLUGIN, ROOT, Host, Json, eventually, processes_below, texts

CHAOS_PLUGIN = ROOT / "plugins" / "chaos-agent"
CHAOS_ID = "parlour/chaos-agent"
CHAOS = f"plugin:{CHAOS_ID}/default"
QUICK_RECOVERY: dict[str, object] = {
    "PARLOUR__PLUGINS__SANDBOX": "required",
    "PARLOUR__PLUGINS__FIRST_RESTART_SECONDS": 0.05,
    "PARLOUR__PLUGINS__LONGEST_RESTART_SECONDS": 0.05,
    "PARLOUR__PLUGINS__GIVE_UP_AFTER": 10_000,
    "PARLOUR__PLUGINS__PING_SECONDS": 0.5,
    "PARLOUR__PLUGINS__MISSED_PINGS": 3,
    "PARLOUR__PLUGINS__IGNORED_CANCEL_SECONDS": 0.5,
    "PARLOUR__PLUGINS__DRAIN_SECONDS": 0.5,
    "PARLOUR__PLUGINS__MEMORY_LOOK_SECONDS": 0.1,
    "PARLOUR__PLUGINS__DATA_LOOK_SECONDS": 0.1,
    "PARLOUR__PLUGINS__DATA_MB": 64,
}


class Chaos:
    def __init__(self, host: Host) -> None:
        self.host = host
        self.pid = host.process.pid
        self._agents: dict[tuple[str, str], str] = {}
        assert self.plugin()["sandbox"] == "bubblewrap", "what this plugin does must not be done outside a sandbox"

    def plugin(self) -> Json:
        [found] = [each for each in self.host.items("/plugins") if each["id"] == CHAOS_ID]
        return found

    def agent(self, behaviour: str, target: str = "") -> str:
        if (behaviour, target) not in self._agents:
            config = {"behaviour": behaviour} | ({"target": target} if target else {})
            self._agents[behaviour, target] = self.host.agent(CHAOS, behaviour, config=config, restart_policy="never")
        return self._agents[behaviour, target]

    def run(self, behaviour: str, target: str = "") -> Json:
        """Runs the behaviour and returns the result of the run."""
        agent = self.agent(behaviour, target)
        return self._run_and_cancel(agent) if behaviour == "ignore_cancel" else self.host.ask(agent, "go on")

    def check_recovery(self) -> None:
        """Checks that the next ordinary message is answered without help."""
        assert texts(self.host.ask(self.agent("normal"), "are you well?")) == ["are you well?"]

    def wait_for_reason(self, reason: str) -> Json:
        """Waits until the plugin serves again with this reason and returns the operator's view of it."""

        pattern = re.compile(reason)
        return eventually(
            lambda: (seen := self.plugin())["status"] == "ready" and pattern.search(seen["reason"] or "") and seen,
            f"the plugin is ready again after: {reason}",
        )

    def pids(self) -> set[int]:
        """Returns the processes that the Host knows as the plugin."""
        folder = self.host.home / "plugins" / CHAOS_ID
        return {process.pid for process in processes_below(folder)}

    def denials(self, run_id: str) -> list[Json]:
        """Returns the calls that were refused in the name of this run."""
        events = self.host.items("/events", type="access.denied")
        return [event for event in events if event["data"].get("run_id") == run_id]

    def _run_and_cancel(self, agent: str) -> Json:
        event: dict[str, Any] = self.host.send(agent, "go on")
        run_id = self.host.active_run(agent)
        eventually(lambda: self.host.items(f"/runs/{run_id}/events"), "it began to speak")
        cancelled = self.host.http().post(f"/runs/{run_id}/cancel")
        assert cancelled.status_code == 200, cancelled.text
        return {**event, "run": cancelled.json()}


@contextmanager
def chaos_in(host: Host) -> Iterator[Chaos]:
    """Starts the Host with the chaos agent and the echo agent beside it."""
    host.install(ECHO_PLUGIN)
    host.install(CHAOS_PLUGIN)
    host.start()
    try:
        yield Chaos(host)
    finally:
        host.close()
