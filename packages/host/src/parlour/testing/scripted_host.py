"""Runs a Host whose models, tools, knowledge, skills and files are scripted.

`python -m parlour.testing.scripted_host DATA SEEN` writes a line to the file SEEN for each request to a model or tool,
so that requests are known also after the Host is killed. A model repeats its input; the input `hang` is never answered,
`pause` stops in the middle, and `busy` is refused.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from parlour.app.host import HostExtensions
from parlour.app.settings_loader import load
from parlour.cli import serve
from parlour.core.model.providers import ProviderFailed, Providers
from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.models import InvokeModel

from .scripted import (
    Hang,
    Reply,
    Scripted,
    ScriptedFiles,
    ScriptedKnowledge,
    ScriptedModels,
    ScriptedSkills,
    ScriptedTools,
    Tool,
)

LARGE_CHARACTERS = 300_000


class Seen:
    """Appends lines that are in the file as soon as they are written, even if this process is killed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, line: str) -> None:
        with self._path.open("a") as file:
            file.write(f"{line}\n")


class EchoModels(ScriptedModels):
    def __init__(self, seen: Seen) -> None:
        super().__init__(otherwise=self._answer)
        self._lines = seen

    def let_go(self) -> None:
        super().let_go()
        self._lines.add("model let go")

    def _answer(self, request: InvokeModel) -> Scripted:
        text = plain_text(request.messages[-1].content)
        self._lines.add(f"model {text}")
        match text:
            case "hang":
                return Hang()
            case "pause":
                return Reply("well", then=Hang())
            case "busy":
                return ProviderFailed("rate_limited", "the model is busy", retryable=True)
            case _:
                return f"you said {text}"


def providers(seen: Seen) -> Providers:
    def tool(name: str, answer: str) -> Tool:
        def act(parameters: dict[str, Any]) -> str:
            seen.add(f"tool {name}")
            return answer

        return Tool(act, read_only=name != "lamp")

    return Providers(
        models=EchoModels(seen),
        tools=ScriptedTools(
            {"lamp": tool("lamp", "on"), "clock": tool("clock", "noon"), "book": tool("book", "x" * LARGE_CHARACTERS)}
        ),
        knowledge=ScriptedKnowledge({"manual": ["the red lamp", "the door"]}),
        skills=ScriptedSkills({"cook": "Heat the pan."}),
        files=ScriptedFiles({"notes": b"0123456789"}),
    )


def main(data: str, seen: str) -> None:
    scripted = providers(Seen(Path(seen)))
    additions = HostExtensions(lambda ports: replace(ports, providers=scripted))
    serve.run(load(None, {"data": Path(data), "http.port": 0}), additions)


if __name__ == "__main__":
    main(*sys.argv[1:])
