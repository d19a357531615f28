"""Checks that mypy rejects a call with the id of another thing, and that no id of the core is declared as a string.

The example calls real functions of the core, so it also fails if one of them goes back to `str`.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = ROOT / "packages/host/src/parlour/core"
MARK = "# wrong"

CALLS = """
from parlour.core.delivery.send_log import SendLog
from parlour.core.model.event import ConversationKey
from parlour.core.model.ids import AgentId, BotId, ConversationId, EventId, OutboxId, PluginId, RunId, RunnerId
from parlour.core.model.ports import Ids, PluginCaller
from parlour.core.model.run_request import RunRequest
from parlour.core.store import inbox
from parlour.core.store.ledger import Ledger


async def reads_runs(ledger: Ledger, run_id: RunId, event_id: EventId, ids: Ids) -> None:
    await ledger.get_run(run_id)
    await ledger.get_run(event_id)  # wrong
    await ledger.get_run("run")  # wrong
    await ledger.get_run(ids.new())  # wrong


def logs_sends(send_log: SendLog, outbox_id: OutboxId, run_id: RunId) -> None:
    send_log.record_start(outbox_id)
    send_log.record_start(run_id)  # wrong


def writes_rows(bot_id: BotId, outbox_id: OutboxId, run_id: RunId, conversation_id: ConversationId) -> None:
    inbox.enqueue(1, conversation_id, bot_id, run_id)
    inbox.enqueue(1, run_id, bot_id)  # wrong
    inbox.enqueue(1, conversation_id, run_id)  # wrong
    inbox.enqueue(1, conversation_id, bot_id, outbox_id)  # wrong


def starts_runs(plugins: PluginCaller, plugin_id: PluginId, runner_id: RunnerId) -> None:
    plugins.run_agent(plugin_id, {})
    plugins.run_agent(runner_id, {})  # wrong
    RunRequest(plugin_id, runner_id)
    RunRequest(plugin_id, plugin_id)  # wrong


def makes_keys(bot_id: BotId, agent_id: AgentId) -> None:
    ConversationKey("default", "telegram", bot_id, "private:1", "", agent_id, "")
    ConversationKey("default", "telegram", agent_id, "private:1", "", agent_id, "")  # wrong
    ConversationKey("default", "telegram", bot_id, "private:1", "", bot_id, "")  # wrong
"""

TYPED = re.compile(
    r"(?:^|_)(?:agent|approval|artifact|binding|bot|budget|conversation|event|model|outbox|plugin|provider|route|run|runner"
    r"|runtime|schedule|transcript)_ids?$"
)
STRINGS_BY_DESIGN = {
    "log_context.py:run_id",  # below the layer of the id types, and only written to the log
    "platforms/port.py:artifact_id",  # adapters name files as the protocol does; the link to the Host converts
}


def test_mypy_rejects_ids_of_other_things(tmp_path: Path) -> None:
    example = tmp_path / "calls.py"
    example.write_text(CALLS, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", str(example)]  # with the cache that `make check` has filled
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    reported = [int(line) for line in re.findall(r"calls\.py:(\d+): error: .*\[arg-type\]", checked.stdout)]
    wrong = [number for number, line in enumerate(CALLS.splitlines(), 1) if line.endswith(MARK)]
    assert reported == wrong, checked.stdout + checked.stderr
    assert f"Found {len(wrong)} errors in 1 file" in checked.stdout


def test_no_id_of_the_core_is_declared_as_a_string() -> None:
    found = {
        f"{file.relative_to(CORE)}:{name}"
        for file in CORE.rglob("*.py")
        for name, annotation in _declarations(ast.parse(file.read_text(encoding="utf-8")))
        if TYPED.search(name) and _is_string(annotation)
    }
    assert found == STRINGS_BY_DESIGN


def _declarations(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yields parameters, fields and functions with their annotations."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name, annotation=ast.expr() as annotation):
                yield name, annotation
            case ast.AnnAssign(target=ast.Name(id=name) | ast.Attribute(attr=name), annotation=annotation):
                yield name, annotation
            case ast.FunctionDef(name=name, returns=ast.expr() as annotation):
                yield name, annotation
            case ast.AsyncFunctionDef(name=name, returns=ast.expr() as annotation):
                yield name, annotation


def _is_string(annotation: ast.expr) -> bool:
    """Returns whether it is `str`, an optional `str`, or a list, set, tuple or sequence of them."""
    match annotation:
        case ast.Name(id="str"):
            return True
        case ast.BinOp(left=left, right=right):
            return _is_string(left) or _is_string(right)
        case ast.Subscript(value=ast.Name(id="list" | "set" | "frozenset" | "Sequence" | "Iterable"), slice=item):
            return _is_string(item)
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[item, *_])):
            return _is_string(item)
        case _:
            return False
