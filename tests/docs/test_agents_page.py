"""The agent that docs/agents.md shows, installed into a real Host and talked to."""

import re
from pathlib import Path

from tests.integration.harness import ROOT, Host

MANIFEST = """
apiVersion: parlour/v1
kind: Plugin
metadata: {author: docs, name: greeter, version: 0.1.0}
spec: {components: [components/runners/default.yaml]}
"""
COMPONENT = """
apiVersion: parlour/v1
kind: AgentRunner
metadata: {name: default, label: {en_US: Greeter}}
spec: {capabilities: {streaming: true}}
execution: {python: {path: components/runners/default.py, attr: Greeter}}
"""


def test_the_agent_of_the_docs_greets_and_counts(tmp_path: Path) -> None:
    page = (ROOT / "docs/agents.md").read_text()
    [code] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    plugin = tmp_path / "greeter"
    (plugin / "components/runners").mkdir(parents=True)
    (plugin / "manifest.yaml").write_text(MANIFEST)
    (plugin / "components/runners/default.yaml").write_text(COMPONENT)
    (plugin / "components/runners/default.py").write_text(code)
    host = Host(tmp_path)
    host.install(plugin)
    try:
        http = host.start().http()
        agent = http.post("/agents", json={"name": "Greeter", "runner_id": "plugin:docs/greeter/default"}).json()
        answers = [
            http.post(
                "/events?wait=result",
                json={"agent_id": agent["agent_id"], "conversation_id": "hall", "input": {"text": text}},
            ).json()["messages"]
            for text in ("good morning", "good evening")
        ]
    finally:
        host.close()
    assert [message["content"] for messages in answers for message in messages] == [
        "Hello, number 1: good morning",
        "Hello, number 2: good evening",
    ]
