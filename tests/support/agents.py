"""Runs a Host with the local agent, a model service of the test, and a OneBot bot whose other end is the test's."""

from pathlib import Path
from typing import Any

from parlour.testing.model_server import ModelServer

from .harness import Host, Json, eventually
from .onebot import Peer, free_port
from .scripted_models import LOCAL, LOCAL_PLUGIN


class AgentHost(Host):
    """A Host whose agents call a model server; every request that the server got can be looked at."""

    def __init__(self, folder: Path, server: ModelServer, **environment: object) -> None:
        super().__init__(folder, **environment)
        self.server = server
        self.install(LOCAL_PLUGIN)
        self.start()

    def model(self, kind: str = "openai-compatible", **fields: Any) -> str:
        """Adds a provider of a kind with one model; returns the model's id."""
        address = self.server.address if kind in ("anthropic", "gemini") else f"{self.server.address}/v1"
        provider = {"name": "Fake", "kind": kind, "base_url": address, "api_keys": ["sk-canary-5f2c9d"]}
        made = self.http().post("/model-providers", json=provider)
        assert made.status_code == 201, made.text
        body = {"provider_id": made.json()["provider_id"], "name": "fake", "abilities": ["tools", "vision"], **fields}
        answer = self.http().post("/models", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["model_id"])

    def local(self, *models: str, **config: Any) -> str:
        """Creates a local agent with these models, the primary one first."""
        first, *others = models
        fields = {name: config.pop(name) for name in ("timeout_seconds", "resource_policy") if name in config}
        chosen = {"model": {"primary": first, "fallbacks": others}, **config}
        return self.agent(LOCAL, config=chosen, **fields)

    def bot(self, agent_id: str, name: str = "Parley", **fields: Any) -> tuple[str, Peer]:
        """Connects a OneBot bot whose mentions go to the agent; returns its id and its peer."""
        port = free_port()
        body = {"name": name, "adapter": "onebot11", "adapter_config": {"port": port}, **fields}
        made = self.http().post("/bots", json=body)
        assert made.status_code == 201, made.text
        bot_id = str(made.json()["bot_id"])
        config = {"agent_id": agent_id}
        route: Json = {
            "event_type": "message.received",
            "handler_type": "agent",
            "handler_config": config,
            "filters": {"mentions_bot": True},
        }
        routed = self.http().put(f"/bots/{bot_id}/routes", json=[route])
        assert routed.status_code == 200, routed.text
        return bot_id, Peer(port)

    def requests(self, number: int) -> list[Any]:
        """Returns the bodies of the requests as soon as there are this many."""
        return eventually(
            lambda: len(self.server.requests) >= number and [each.body for each in self.server.requests],
            f"{number} model requests",
            30,
        )

    def items_in_group(self, group: int, number: int) -> list[Json]:
        """Returns the transcript of a group as soon as it has this many items."""

        def look() -> list[Json]:
            found = [each for each in self.items("/conversations") if each["chat"].endswith(str(group))]
            items = self.items(f"/conversations/{found[0]['conversation_id']}/transcript") if found else []
            return items if len(items) >= number else []

        return eventually(look, f"{number} items of group {group}", 30)
