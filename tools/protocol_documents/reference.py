"""Builds the reference page: the tables of the contract, then every entity by its module."""

import ast
import inspect
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from parlour_sdk.protocol import limits as protocol_limits
from parlour_sdk.protocol.actions import ACTION_NAMES
from parlour_sdk.protocol.base import PROTOCOL_VERSION
from parlour_sdk.protocol.errors import CODES
from parlour_sdk.protocol.events import ALIASES
from parlour_sdk.protocol.host_actions import HOST_ACTIONS
from parlour_sdk.protocol.platform_events import EVENTS, PlatformSpecific
from parlour_sdk.protocol.results import FAILURES, PAYLOADS
from parlour_sdk.protocol.runs import TRANSITIONS
from parlour_sdk.protocol.wire_actions import PLUGIN_ACTIONS
from parlour_sdk.wire import limits as wire_limits

from .entities import entities, module_notes, modules, notes_below, summary
from .words import default, link, number, type_of

GROUPS = {
    "The connection": ("handshake", "errors", "calls"),
    "A run": ("context", "events", "content", "messages", "resources", "results", "usage"),
    "What plugins say of themselves": ("manifest", "form", "component_specs"),
    "What components are asked": ("components", "tools", "pages", "knowledge", "vectors"),
    "The run API": (
        *("models", "skills", "history", "event_log", "artifacts", "files"),
        *("state", "storage", "steering", "actions", "live_permissions", "gateway", "host", "processes"),
    ),
    "Runs and runtimes": ("runs", "runtimes"),
    "Platforms": ("people", "chain", "platform_events", "platform_api", "listing"),
}
UNIONS = {"content": "ContentElement", "chain": "Component"}
"""Named unions by the module that defines them."""
WHERE = {"run": "in a run", "either": "in a run or outside", "plugin": "outside a run"}
MANNERS = {
    "ignore": "Passes over unknown fields.",
    "forbid": "Refuses unknown fields.",
    "allow": "Keeps unknown fields.",
}
OPENING = f"""\
# The protocol, field by field

Version {PROTOCOL_VERSION}. This page is made from the entities in `parlour_sdk.protocol` by `make documents`; the same
contract for programs is [schema.json](schema.json), and an example of every entity is in
`packages/sdk/tests/protocol/golden`.

Types are exact: a number in quotes is no number. Every entity says what it does with fields it doesn't know: what is
received or asked **passes over** them, so that either side may be the newer one; results with effects, pages and errors
**refuse** them, so that nothing is lost unnoticed; telemetry **keeps** them. What stands inside another entity keeps
its own manner. Times are milliseconds since 1970 in UTC, ids are opaque texts.
"""


def page(schema: dict[str, Any]) -> str:
    modules_by_name = {module.__name__.rpartition(".")[2]: module for module in modules() if entities(module)}
    left_out = modules_by_name.keys() - {noun for nouns in GROUPS.values() for noun in nouns}
    if left_out:
        raise SystemExit(f"{', '.join(left_out)}: name the module in GROUPS, or the page lacks its entities")
    parts = [OPENING, _contents(), *_actions(), *_streams(), *_codes(), *_numbers()]
    for title, nouns in GROUPS.items():
        parts.append(f"## {title}\n")
        for noun in nouns:
            parts.extend(_module(noun, modules_by_name[noun], schema["$defs"]))
    return "\n".join(parts).rstrip() + "\n"


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _contents() -> str:
    headings = ("Wire actions", "Results", "Events", "Codes", "States of a run", "Limits")
    lines = [" · ".join(f"[{name}](#{name.lower().replace(' ', '-')})" for name in headings)]
    for title, nouns in GROUPS.items():
        lines.append(f"{title}: " + " · ".join(f"[{noun}](#module-{noun})" for noun in nouns))
    return "".join(f"- {line}\n" for line in lines)


def _actions() -> Iterable[str]:
    yield "## Wire actions\n\n### What a plugin asks of the Host\n"
    rows = [
        (f"`{name}`", WHERE[each.where], link(each.request.__name__), _answer(each.answer, each.streams))
        for name, each in HOST_ACTIONS.items()
    ]
    yield table(("action", "where", "request", "answer"), rows)
    yield "### What the Host asks of a plugin\n"
    plugin_rows = [
        (f"`{name}`", link(each.request.__name__) if each.request else "", _answer(each.answer, each.streams))
        for name, each in PLUGIN_ACTIONS.items()
    ]
    yield table(("action", "request", "answer"), plugin_rows)
    yield f"The first call on a connection is `hello` ({link('Hello')}), answered with {link('Welcome')}.\n"


def _answer(entity: type[BaseModel], streams: bool) -> str:
    return f"stream of {link(entity.__name__)}" if streams else link(entity.__name__)


def _streams() -> Iterable[str]:
    yield f"## Results\n\nThe payload (`data`) of an {link('AgentRunResult')}, by its `type`.\n"
    yield table(("type", "payload", ""), _by_type(PAYLOADS))
    yield "## Events\n\nRoutes and listeners name a type, `namespace.*` or `*`.\n"
    yield table(("type", "entity", ""), _by_type({**EVENTS, "platform.{adapter}.{action}": PlatformSpecific}))
    yield "".join(f"`{alias}` is accepted for `{name}`.\n" for alias, name in ALIASES.items())


def _by_type(payloads: Mapping[str, type[BaseModel]]) -> Iterable[tuple[str, ...]]:
    return [(f"`{name}`", link(entity.__name__), summary(entity)) for name, entity in payloads.items()]


def _codes() -> Iterable[str]:
    yield "## Codes\n\n### Of an error\n"
    yield f"In an {link('AgentAPIError')}. The set is open: an unknown code counts as `runtime_error`.\n"
    yield table(("code", "when"), [(f"`{code}`", when) for code, when in CODES.items()])
    yield "### Of a failed run\n\nOr the runner's own `name.reason`.\n"
    yield table(("code", "when"), [(f"`{code}`", when) for code, when in FAILURES.items()])
    yield "### Names of platform actions\n\n" + ", ".join(f"`{name}`" for name in ACTION_NAMES) + ".\n"
    yield "## States of a run\n\nA run moves along these ways; anything else is an error and changes nothing.\n"
    transitions = [
        (f"`{start}`", ", ".join(f"`{end}`" for end in ends) or "ended") for start, ends in TRANSITIONS.items()
    ]
    yield table(("from", "to"), transitions)


def _numbers() -> Iterable[str]:
    yield "## Limits\n\n### Of the contract\n"
    notes = module_notes(protocol_limits)
    limits = [(name, value) for name, value in vars(protocol_limits).items() if name.isupper()]
    yield table(("limit", "", ""), [(f"`{name}`", number(name, value), notes[name]) for name, value in limits])
    yield "### Of a connection\n\nThe defaults; who may have more is the Host's to decide.\n"
    wire = _wire_notes()
    rows = [(f"`{name}`", number(name, value), wire.get(name, "")) for name, value in _wire_limits().items()]
    yield table(("limit", "", ""), rows)


def _wire_limits() -> dict[str, float]:
    limits = wire_limits.DEFAULT_LIMITS
    return {name: getattr(limits, name) for name in limits.__slots__}


def _wire_notes() -> dict[str, str]:
    return notes_below(ast.parse(inspect.getsource(wire_limits.WireLimits)).body[0])


def _module(noun: str, module: ModuleType, definitions: dict[str, Any]) -> Iterable[str]:
    yield f"### Module {noun}\n\n{summary(module)}\n"
    for entity in entities(module):
        extra_text = MANNERS[str(entity.model_config["extra"])]
        yield f"#### {entity.__name__}\n\n{summary(entity)} *{extra_text}*\n"
        yield _fields(definitions[entity.__name__])
    if noun in UNIONS:
        union = definitions[UNIONS[noun]]
        yield f"#### {UNIONS[noun]}\n\n{union['description']}\n"
        yield ", ".join(type_of(each) for each in union["oneOf"]) + ".\n"


def _fields(definition: dict[str, Any]) -> str:
    required = definition.get("required", [])
    rows = [
        (f"`{name}`", type_of(each), "required" if name in required else default(each), each.get("description", ""))
        for name, each in definition["properties"].items()
    ]
    return table(("field", "type", "default", ""), rows) if rows else "No fields.\n"
