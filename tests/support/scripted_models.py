"""Runs a real Host with the local agent, whose models give the replies that a test writes."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .harness import ROOT, Host, Json, eventually

LOCAL_PLUGIN = ROOT / "plugins" / "local-agent"
LOCAL = "plugin:parlour/local-agent/default"
MAIN = {"primary": "main", "fallbacks": []}
BOTH = {"primary": "main", "fallbacks": ["second"]}


class ScriptedModelsHost(Host):
    def __init__(self, folder: Path, **environment: object) -> None:
        super().__init__(folder, **environment)
        self._folder = folder / "written"
        self._folder.mkdir()
        self._number = 0
        self.write()

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "parlour.testing.written_host", str(self.data), str(self._folder)]

    def write(self, *main: Json | str, second: tuple[Json | str, ...] = ()) -> None:
        """Sets the replies of the models from now on and clears the recorded requests."""
        self._number += 1
        models = {"main": [_reply(each) for each in main], "second": [_reply(each) for each in second]}
        whole = self._folder / "replies.new"
        whole.write_text(json.dumps({"number": self._number, "models": models}))
        (self._folder / "asked.jsonl").write_text("")
        whole.replace(self._folder / "replies.json")

    def open_gate(self, gate: str) -> None:
        (self._folder / gate).touch()

    def lines(self, kind: str) -> list[Any]:
        """Returns the recorded lines of one kind: model, tool, let_go."""
        lines = [json.loads(line) for line in (self._folder / "asked.jsonl").read_text().splitlines()]
        return [line[kind] for line in lines if kind in line]

    def requests(self, model_id: str = "main") -> list[Json]:
        return [each for each in self.lines("model") if each["model_id"] == model_id]

    def prompts(self, model_id: str = "main") -> list[list[tuple[str, Any]]]:
        """Returns role and content of the messages of each request."""
        return [[(each["role"], each["content"]) for each in call["messages"]] for call in self.requests(model_id)]

    def until(self, kind: str, number: int = 1) -> list[Any]:
        """Returns the lines as soon as there are this many of the kind."""
        return eventually(lambda: len(found := self.lines(kind)) >= number and found, f"{number} of {kind}", 30)

    def local(self, **config: Any) -> str:
        """Creates a local agent and returns its id. Options that are not its settings go to the agent."""
        fields = {
            name: config.pop(name) for name in ("timeout_seconds", "event_types", "resource_policy") if name in config
        }
        fields.setdefault("resource_policy", {"skills": []})
        return self.agent(LOCAL, config={"model": MAIN, "prompt": "Be kind.", "guidance": False, **config}, **fields)

    def results(self, run_id: str, kind: str) -> list[Json]:
        return [event["data"] for event in self.items(f"/runs/{run_id}/events") if event["type"] == kind]


def calls(*wanted: tuple[str, Any], pieces: Sequence[str] = ()) -> Json:
    made = [{"id": f"call-{at}", "name": name, "arguments": given} for at, (name, given) in enumerate(wanted)]
    return {"pieces": pieces, "tool_calls": made, "finish_reason": "tool_calls"}


def fails(code: str, message: str, **more: Any) -> Json:
    return {"fail": {"code": code, "message": message}, **more}


def _reply(given: Json | str) -> Json:
    return {"pieces": [given]} if isinstance(given, str) else given
