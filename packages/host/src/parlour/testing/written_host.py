"""Runs a Host whose models give the replies that a test in another process writes, and record their requests.

`python -m parlour.testing.written_host DATA FOLDER`. The file `replies.json` in FOLDER has the replies of each model in
their order, with a number that changes whenever they do; `asked.jsonl` has a line for each request to a model or a
tool, and for each abandoned one. A reply has `text` or `pieces`, `tool_calls`, `reasoning`, `usage`, `finish_reason`;
`fail` with code and message, alone or after some text; `hang`; `gate`, a file to wait for.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from parlour.app.core_ports import CorePorts
from parlour.app.host import HostExtensions
from parlour.app.settings_loader import load
from parlour.cli import serve
from parlour.core.model.ids import ModelId
from parlour.core.model.moderation import Moderate
from parlour.core.model.providers import CallContext, ProviderFailed, Providers, Skills, Tools
from parlour_sdk.protocol.content import MediaElement, TextElement
from parlour_sdk.protocol.messages import ToolCall
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank
from parlour_sdk.protocol.resources import ModelResource, SkillResource, ToolResource
from parlour_sdk.protocol.skills import ActiveSkill
from parlour_sdk.protocol.tools import ToolDetail, ToolOutcome
from parlour_sdk.protocol.usage import Usage

from .scripted import (
    Hang,
    Reply,
    Scripted,
    ScriptedKnowledge,
    ScriptedModels,
    ScriptedSkills,
    ScriptedTools,
    Tool,
)
from .scripted.tools import Function

CATALOGUE = (
    ModelResource(model_id="main", name="Main", type="llm", abilities=["tools"]),
    ModelResource(model_id="second", name="Second", type="llm", abilities=["tools", "vision"]),
    ModelResource(model_id="rerank-model", name="Rerank model", type="rerank"),
)
POLL_SECONDS = 0.005
PIXEL = "iVBORw0KGgo="


class Folder:
    """Represents the folder that the test and this Host share."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._number = -1
        self._positions: Counter[str] = Counter()

    def write(self, kind: str, what: Any) -> None:
        with (self._path / "asked.jsonl").open("a") as file:
            file.write(json.dumps({kind: what}) + "\n")

    def next(self, model_id: ModelId) -> dict[str, Any] | None:
        script = json.loads((self._path / "replies.json").read_text())
        if script["number"] != self._number:
            self._number, self._positions = script["number"], Counter()
        replies, position = script["models"].get(model_id, []), self._positions[model_id]
        self._positions[model_id] += 1
        return replies[position] if position < len(replies) else None

    async def opened(self, gate: str) -> None:
        while not (self._path / gate).exists():  # noqa: ASYNC110 - another process sends no event
            await asyncio.sleep(POLL_SECONDS)


class WrittenModels(ScriptedModels):
    def __init__(self, folder: Folder) -> None:
        super().__init__(otherwise=self._answer, catalogue=CATALOGUE)
        self._folder = folder

    def let_go(self) -> None:
        super().let_go()
        self._folder.write("let_go", "model")

    async def _seen(self, context: CallContext, request: InvokeModel | Rerank | Embed | Moderate) -> None:
        if not isinstance(request, Moderate):
            self._folder.write("model", request.model_dump(mode="json", exclude_none=True))
        await super()._seen(context, request)

    async def _answer(self, request: InvokeModel) -> Scripted:
        reply = self._folder.next(ModelId(request.model_id))
        if reply is None:
            return ProviderFailed("runtime_error", "the script has no reply left for this request")
        if "gate" in reply:
            try:
                await self._folder.opened(reply["gate"])
            except asyncio.CancelledError:
                self.let_go()
                raise
        return _reply(reply)


def _reply(entry: dict[str, Any]) -> Scripted:
    failure = _failure(entry)
    if failure is not None and not (entry.get("text") or entry.get("pieces")):
        return failure
    return Reply(
        text=entry.get("text", ""),
        pieces=entry.get("pieces", ()),
        reasoning=entry.get("reasoning", ""),
        tool_calls=[ToolCall(**call) for call in entry.get("tool_calls", ())],
        usage=Usage(**entry.get("usage", {})),
        finish_reason=entry.get("finish_reason", "stop"),
        then=failure,
    )


def _failure(entry: dict[str, Any]) -> ProviderFailed | Hang | None:
    if entry.get("hang"):
        return Hang()
    return ProviderFailed(**entry["fail"]) if "fail" in entry else None


def tools(folder: Folder) -> dict[str, Tool]:
    async def clock(parameters: dict[str, Any]) -> str:
        folder.write("tool", {"clock": parameters})
        return f"noon in {parameters.get('city', 'London')}"

    async def meet(parameters: dict[str, Any]) -> str:
        """Answers when the given number of calls has arrived: in parallel, or never."""
        folder.write("tool", {"meet": parameters})
        waiting_calls.append(parameters)
        if len(waiting_calls) == parameters["number"]:
            all_arrived.set()
        await all_arrived.wait()
        return f"{parameters['name']} has met the others"

    async def broken(parameters: dict[str, Any]) -> str:
        raise ProviderFailed("runtime_error", "the wire is cut")

    async def stuck(parameters: dict[str, Any]) -> str:
        folder.write("tool", {"stuck": parameters})
        try:
            await asyncio.Event().wait()
        finally:
            folder.write("let_go", "tool")
        return ""

    async def gated(parameters: dict[str, Any]) -> str:
        folder.write("tool", {"gated": parameters})
        await folder.opened(parameters["gate"])
        return "the gate is open"

    async def camera(parameters: dict[str, Any]) -> ToolOutcome:
        picture = MediaElement(type="image", mime_type="image/png", content_base64=PIXEL)
        return ToolOutcome(content=[TextElement(text="a cat"), picture])

    waiting_calls: list[dict[str, Any]] = []
    all_arrived = asyncio.Event()
    functions: dict[str, Function] = {
        "clock": clock,
        "broken": broken,
        "stuck": stuck,
        "gated": gated,
        "camera": camera,
        "meet": meet,
    }
    return {name: Tool(function, read_only=True, description=f"The {name}.") for name, function in functions.items()}


class CombinedTools:
    """The scripted tools, and those of the Host under other names."""

    def __init__(self, scripted: Tools, real: Tools) -> None:
        self._scripted = scripted
        self._real = real
        self._names = {resource.tool_name for resource in scripted.resources()}

    def resources(self) -> Sequence[ToolResource]:
        return [*self._scripted.resources(), *self._real.resources()]

    def read_only(self, tool_name: str) -> bool:
        return self._source(tool_name).read_only(tool_name)

    async def detail(self, tool_name: str) -> ToolDetail:
        return await self._source(tool_name).detail(tool_name)

    async def call(self, context: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        return await self._source(tool_name).call(context, tool_name, parameters)

    def _source(self, tool_name: str) -> Tools:
        return self._scripted if tool_name in self._names else self._real


class CombinedSkills:
    """The scripted skills, and those that are installed."""

    def __init__(self, scripted: Skills, real: Skills) -> None:
        self._scripted = scripted
        self._real = real
        self._names = {resource.skill_name for resource in scripted.resources()}

    def resources(self) -> Sequence[SkillResource]:
        return [*self._scripted.resources(), *self._real.resources()]

    async def active(self, context: CallContext) -> Collection[str]:
        return {*await self._scripted.active(context), *await self._real.active(context)}

    async def activate(self, context: CallContext, skill_name: str, records: bool = True) -> ActiveSkill:
        source = self._scripted if skill_name in self._names else self._real
        return await source.activate(context, skill_name, records)


def providers(folder: Folder) -> Providers:
    return Providers(
        models=WrittenModels(folder),
        tools=ScriptedTools(tools(folder)),
        knowledge=ScriptedKnowledge({"manual": ["the red lamp", "how to mend the lamp with a spoon"], "empty": []}),
        skills=ScriptedSkills({"cook": "Heat the pan."}),
    )


def main(data: str, folder: str) -> None:
    scripted = providers(Folder(Path(folder)))

    def wrap(ports: CorePorts) -> CorePorts:
        tools = CombinedTools(scripted.tools, ports.providers.tools)
        skills = CombinedSkills(scripted.skills, ports.providers.skills)
        return replace(ports, providers=replace(scripted, tools=tools, skills=skills))

    additions = HostExtensions(wrap)
    serve.run(load(None, {"data": Path(data), "http.port": 0}), additions)


if __name__ == "__main__":
    main(*sys.argv[1:])
