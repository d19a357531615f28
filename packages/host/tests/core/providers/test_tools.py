"""Calls to tools from a run: outcomes, failures, effects, large outputs, and runs that end meanwhile."""

import asyncio
import base64
from contextlib import nullcontext
from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.model.providers import ProviderFailed, Providers
from parlour.core.store.tables import ARTIFACTS, RUNS
from parlour.testing.scripted import ScriptedTools, Tool
from parlour_sdk.protocol.content import JsonElement, MediaElement, TextElement
from parlour_sdk.protocol.limits import INLINE_BINARY_BYTES, RESULT_BYTES
from parlour_sdk.protocol.tools import ToolOutcome

from ..support import World, until
from .granted import cancel, running, world

LARGE = "large " * RESULT_BYTES


def fail(parameters: dict[str, Any]) -> str:
    raise ProviderFailed("runtime_error", "the tool's server is gone")


async def hang(parameters: dict[str, Any]) -> str:
    await asyncio.Event().wait()
    return "never"


def photo(size: int) -> MediaElement:
    content = b"\x89PNG\r\n\x1a\n".ljust(size, b"\0")
    return MediaElement(type="image", mime_type="image/png", content_base64=base64.b64encode(content).decode())


TOOLS = {
    "clock": Tool(lambda parameters: "noon", read_only=True, description="Tells the time"),
    "lamp": Tool(lambda parameters: f"the lamp is {parameters['state']}"),
    "broken": Tool(fail),
    "stuck": Tool(hang),
    "sad": Tool(lambda parameters: ToolOutcome(content=[TextElement(text="no such lamp")], is_error=True)),
    "book": Tool(lambda parameters: LARGE, read_only=True),
    "camera": Tool(lambda parameters: ToolOutcome(content=[photo(INLINE_BINARY_BYTES + 3)]), read_only=True),
    "icon": Tool(lambda parameters: ToolOutcome(content=[photo(INLINE_BINARY_BYTES)]), read_only=True),
    "table": Tool(lambda parameters: ToolOutcome(content=[JsonElement(value=LARGE)]), read_only=True),
}


async def opened() -> tuple[World, ScriptedTools, Any]:
    tools = ScriptedTools(TOOLS)
    made = await world(Providers(tools=tools))
    return made, tools, await running(made)


def ledger_row(made: World, run_id: str) -> dict[str, Any]:
    return made.rows(RUNS, run_id=run_id)[0]


async def test_a_run_is_told_what_a_tool_takes() -> None:
    made, _, run = await opened()
    detail = await made.call(run, "get_tool_detail", tool_name="clock")
    assert (detail["description"], detail["read_only"]) == ("Tells the time", True)


async def test_a_tool_is_called_with_its_parameters_and_answers() -> None:
    made, tools, run = await opened()
    outcome = await made.call(run, "call_tool", tool_name="lamp", parameters={"state": "on"})
    assert outcome["content"] == [{"type": "text", "text": "the lamp is on"}]
    assert [(each.tool_name, each.asking.run_id) for each in tools.requests] == [("lamp", run.run_id)]


@pytest.mark.parametrize(("tool", "effects"), [("clock", 0), ("lamp", 1), ("broken", 1)])
async def test_only_a_tool_that_acts_is_an_effect_and_is_one_before_it_acts(tool: str, effects: int) -> None:
    made, _, run = await opened()
    with pytest.raises(CallRejected) if tool == "broken" else nullcontext():
        await made.call(run, "call_tool", tool_name=tool, parameters={"state": "on"})
    assert ledger_row(made, run.run_id)["effects"] == effects


async def test_a_tools_own_failure_is_an_outcome_and_a_failed_call_an_error() -> None:
    made, _, run = await opened()
    assert (await made.call(run, "call_tool", tool_name="sad"))["is_error"] is True
    with pytest.raises(CallRejected, match="the tool's server is gone"):
        await made.call(run, "call_tool", tool_name="broken")


async def test_the_ledger_counts_the_calls_and_tells_how_each_went() -> None:
    made, _, run = await opened()
    await made.call(run, "call_tool", tool_name="clock")
    with pytest.raises(CallRejected):
        await made.call(run, "call_tool", tool_name="broken", parameters={"password": "hidden"})
    run.answer("done")
    await made.rest()
    assert loads(ledger_row(made, run.run_id)["usage"]) == {"tool_calls": 2}
    noted = [told for type, told in made.facts(run.run_id) if type == "tool.called"]
    began = ledger_row(made, run.run_id)["started_at"]
    assert all(began <= told.pop("started_at") <= made.clock.now() for told in noted)
    assert noted == [
        {"name": "clock", "outcome": "answered", "milliseconds": 0},
        {"name": "broken", "outcome": "runtime_error", "milliseconds": 0},
    ]


async def test_a_tool_that_hangs_is_let_go_when_the_run_is_cancelled() -> None:
    made, tools, run = await opened()
    asked = asyncio.ensure_future(made.call(run, "call_tool", tool_name="stuck"))
    await until(lambda: tools.requests)
    await cancel(made, run)
    with pytest.raises(CallRejected) as refused:
        await asked
    assert refused.value.code == "cancelled"


async def test_a_large_text_is_previewed_and_kept_whole_as_a_file_that_the_run_can_read() -> None:
    made, _, run = await opened()
    outcome = await made.call(run, "call_tool", tool_name="book")
    preview, ref = outcome["content"][0]["text"], outcome["artifact_refs"][0]
    assert outcome["truncated"] is True
    assert LARGE.startswith(preview)
    assert (ref["artifact_type"], ref["name"], ref["size_bytes"]) == ("tool_result", "book.txt", len(LARGE))
    piece = await made.call(run, "artifact_read", artifact_id=ref["artifact_id"], offset=6, length=5)
    assert base64.b64decode(piece["content_base64"]) == b"large"


async def test_large_data_is_kept_as_json() -> None:
    made, _, run = await opened()
    outcome = await made.call(run, "call_tool", tool_name="table")
    assert (outcome["truncated"], outcome["artifact_refs"][0]["name"]) == (True, "table.json")
    (row,) = made.rows(ARTIFACTS)
    assert (row["source"], row["run_id"]) == ("tool", run.run_id)


async def test_a_file_in_an_answer_becomes_an_artifact_and_a_small_one_stays_inside() -> None:
    made, _, run = await opened()
    (photo,) = (await made.call(run, "call_tool", tool_name="camera"))["content"]
    (icon,) = (await made.call(run, "call_tool", tool_name="icon"))["content"]
    assert (photo.get("content_base64"), photo["size_bytes"]) == (None, INLINE_BINARY_BYTES + 3)
    assert [row["artifact_id"] for row in made.rows(ARTIFACTS)] == [photo["artifact_id"]]
    assert len(base64.b64decode(icon["content_base64"])) == INLINE_BINARY_BYTES
