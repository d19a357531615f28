"""Tests that the local agent writes a script, runs it, reads the result and sends what it produced."""

from pathlib import Path

from tests.support.harness import texts
from tests.support.scripted_models import LOCAL, LOCAL_PLUGIN, MAIN, ScriptedModelsHost, calls

SCRIPT = """
import json, pathlib
pathlib.Path("outbox").mkdir(exist_ok=True)
pathlib.Path("result.json").write_text(json.dumps({"sum": sum(range(101))}))
svg = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="9"/></svg>'
pathlib.Path("outbox/drawing.svg").write_text(svg)
print("done")
"""


def test_local_agent_writes_runs_reads_and_sends(tmp_path: Path) -> None:
    host = ScriptedModelsHost(tmp_path)
    host.install(LOCAL_PLUGIN)
    host.start()
    try:
        config = {"model": MAIN, "prompt": "Be kind."}
        policy = {"tools": ["exec", "read", "write"]}
        agent = host.agent(LOCAL, config=config, resource_policy={"skills": []}, box_policy=policy)
        host.write(
            calls(("box.write", {"path": "draw.py", "content": SCRIPT})),
            calls(("box.exec", {"command": "python3 draw.py"})),
            calls(("box.read", {"path": "result.json"})),
            "The sum is 5050; here is the drawing.",
        )
        result = host.ask(agent, "add and draw")
        assert texts(result) == ["The sum is 5050; here is the drawing."]
        offered = {tool["name"] for tool in host.requests()[0]["tools"]}
        assert offered >= {"box.exec", "box.read", "box.write"}
        assert not offered & {"box.edit", "box.glob", "box.grep"}
        said = [each["content"] for each in host.requests()[-1]["messages"] if each["role"] == "tool"]
        assert said[1].startswith("done")
        assert said[2].startswith('{"sum": 5050}')
        [file] = [ref for message in result["messages"] for ref in message.get("artifact_refs") or ()]
        assert file["name"] == "drawing.svg"
        assert "<circle" in host.http().get(f"/artifacts/{file['artifact_id']}/content").text
    finally:
        host.close()
