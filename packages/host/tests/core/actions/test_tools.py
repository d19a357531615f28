"""Tool calls of a run: outcomes, failures, effects, large outputs, and cancelled runs."""

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

from ..models.model_support import cancel, start_run, world
from ..support import World, until

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


async def open_world() -> tuple[World, ScriptedTools, Any]:
    tools = ScriptedTools(TOOLS)
    made = await world(Providers(tools=tools))
    return made, tools, await start_run(made)


def ledger_row(made: World, run_id: str) -> dict[str, Any]:
    return made.rows(RUNS, run_id=run_id)[0]


async def test_run_reads_the_description_of_a_tool() -> None:
    made, _, run = await open_world()
    detail = await made.call(run, "get_tool_detail", tool_name="clock")
    assert (detail["description"], detail["read_only"]) == ("Tells the time", True)


async def test_tool_receives_parameters_and_its_answer_is_returned() -> None:
    made, tools, run = await open_world()
    outcome = await made.call(run, "call_tool", tool_name="lamp", parameters={"state": "on"})
    assert outcome["content"] == [{"type": "text", "text": "the lamp is on"}]
    assert [(each.tool_name, each.asking.run_id) for each in tools.requests] == [("lamp", run.run_id)]


@pytest.mark.parametrize(("tool", "effects"), [("clock", 0), ("lamp", 1), ("broken", 1)])
async def test_only_tools_with_effects_are_counted_before_they_run(tool: str, effects: int) -> None:
    made, _, run = await open_world()
    with pytest.raises(CallRejected) if tool == "broken" else nullcontext():
        await made.call(run, "call_tool", tool_name=tool, parameters={"state": "on"})
    assert ledger_row(made, run.run_id)["effects"] == effects


async def test_failure_of_a_tool_is_an_outcome_and_a_failed_call_an_error() -> None:
    made, _, run = await open_world()
    assert (await made.call(run, "call_tool", tool_name="sad"))["is_error"] is True
    with pytest.raises(CallRejected, match="the tool's server is gone"):
        await made.call(run, "call_tool", tool_name="broken")


async def test_ledger_counts_calls_and_records_their_outcomes() -> None:
    made, _, run = await open_world()
    await made.call(run, "call_tool", tool_name="clock")
    with pytest.raises(CallRejected):
        await made.call(run, "call_tool", tool_name="broken", parameters={"password": "hidden"})
    run.answer("done")
    await made.rest()
    assert loads(ledger_row(made, run.run_id)["usage"]) == {"tool_calls": 2}
    recorded = [data for type, data in made.facts(run.run_id) if type == "tool.called"]
    started_at = ledger_row(made, run.run_id)["started_at"]
    assert all(started_at <= data.pop("started_at") <= made.clock.now() for data in recorded)
    assert recorded == [
        {"name": "clock", "outcome": "answered", "milliseconds": 0},
        {"name": "broken", "outcome": "runtime_error", "milliseconds": 0},
    ]


async def test_pending_tool_call_is_cancelled_with_its_run() -> None:
    made, tools, run = await open_world()
    call = asyncio.ensure_future(made.call(run, "call_tool", tool_name="stuck"))
    await until(lambda: tools.requests)
    await cancel(made, run)
    with pytest.raises(CallRejected) as refused:
        await call
    assert refused.value.code == "cancelled"


async def test_large_text_is_previewed_and_stored_as_readable_artifact() -> None:
    made, _, run = await open_world()
    outcome = await made.call(run, "call_tool", tool_name="book")
    preview, ref = outcome["content"][0]["text"], outcome["artifact_refs"][0]
    assert outcome["truncated"] is True
    beginning, _, rest = preview.partition("\n... (")
    left_out, _, ending = rest.partition(") ...\n")
    assert LARGE.startswith(beginning)
    assert LARGE.endswith(ending)
    assert min(len(beginning), len(ending)) > 5000
    assert left_out == f"{len(LARGE) - len(beginning) - len(ending)} of {len(LARGE)} bytes left out"
    assert (ref["artifact_type"], ref["name"], ref["size_bytes"]) == ("tool_result", "book.txt", len(LARGE))
    piece = await made.call(run, "artifact_read", artifact_id=ref["artifact_id"], offset=6, length=5)
    assert base64.b64decode(piece["content_base64"]) == b"large"


async def test_large_json_is_stored_as_artifact() -> None:
    made, _, run = await open_world()
    outcome = await made.call(run, "call_tool", tool_name="table")
    assert (outcome["truncated"], outcome["artifact_refs"][0]["name"]) == (True, "table.json")
    (row,) = made.rows(ARTIFACTS)
    assert (row["source"], row["run_id"]) == ("tool", run.run_id)


async def test_large_media_becomes_an_artifact_and_small_media_stays_inline() -> None:
    made, _, run = await open_world()
    (photo,) = (await made.call(run, "call_tool", tool_name="camera"))["content"]
    (icon,) = (await made.call(run, "call_tool", tool_name="icon"))["content"]
    assert (photo.get("content_base64"), photo["size_bytes"]) == (None, INLINE_BINARY_BYTES + 3)
    assert [row["artifact_id"] for row in made.rows(ARTIFACTS)] == [photo["artifact_id"]]
    assert len(base64.b64decode(icon["content_base64"])) == INLINE_BINARY_BYTES
