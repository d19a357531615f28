"""Builds the reference page: every operation and every schema of the OpenAPI document."""

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from .shapes import Schema, words

HEAD = """\
<!-- made by `make documents` from the routes; change those -->

# HTTP reference

Every operation of the interface, from its OpenAPI document, which a Host shows at `/api/v1/openapi.json` (here it is
[openapi.json](../../packages/host/src/parlour/http/openapi.json)). [HTTP and command line](../operate/http.md)
explains keys, errors, paging, the chat socket and the live channel.

Every operation answers errors as [Error](#error). Unknown fields in a body are refused.
"""
_METHODS = ("get", "post", "put", "delete")


def page(document: dict[str, Any]) -> str:
    lines = [HEAD]
    for tag, operations in groupby(_operations(document), key=lambda each: each[2]["tags"][0]):
        lines.append(f"## {tag.capitalize()}\n")
        for method, path, operation in operations:
            lines += _operation(method, path, operation)
    lines.append("## Shapes\n")
    for name, schema in sorted(document["components"]["schemas"].items()):
        lines += _shape(name, schema)
    return "\n".join(lines)


def _operations(document: dict[str, Any]) -> list[tuple[str, str, Schema]]:
    operations = [
        (method, path, methods[method])
        for path, methods in document["paths"].items()
        for method in _METHODS
        if method in methods
    ]
    return sorted(operations, key=lambda each: each[2]["tags"][0])


def _operation(method: str, path: str, operation: Schema) -> Iterator[str]:
    yield f"### {method.upper()} {path}\n"
    if "description" in operation:
        yield f"{operation['description']}\n"
    needs = operation["x-needs"]
    yield f"For: {' or '.join(f'`{each}`' for each in needs) if needs else 'anybody'}.\n"
    if operation.get("parameters"):
        yield from _table(["parameter", "is", ""], map(_parameter, operation["parameters"]))
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Body (`{kind}`): {words(content['schema'])}\n"
    for status, answer in operation["responses"].items():
        if status != "default":
            yield f"{status}: {_answer(answer)}\n"


def _answer(answer: Schema) -> str:
    lines = [
        words(content["schema"]) if kind == "application/json" else f"`{kind}`"
        for kind, content in answer.get("content", {}).items()
    ]
    return " or ".join(lines) or "nothing"


def _parameter(parameter: Schema) -> list[str]:
    location = {"path": "in the path", "query": "`?`", "header": "header"}[parameter["in"]]
    schema = parameter["schema"]
    default = f"; {schema['default']} by default" if schema.get("default") is not None else ""
    return [f"`{parameter['name']}` ({location})", words(schema) + default, parameter.get("description", "")]


def _shape(name: str, schema: Schema) -> Iterator[str]:
    yield f"### {name}\n"
    if "description" in schema:
        yield f"{schema['description']}\n"
    if "properties" not in schema:
        yield f"{words(schema)}\n"
        return
    required = schema.get("required", ())
    rows = [
        [
            f"`{field}`" + ("" if field in required else " (may be left out)"),
            words(field_schema),
            field_schema.get("description", ""),
        ]
        for field, field_schema in schema["properties"].items()
    ]
    yield from _table(["field", "is", ""], rows)
    for example in schema.get("examples", ()):
        yield f"```json\n{json.dumps(example, ensure_ascii=False)}\n```\n"


def _table(heads: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield _row(heads)
    yield _row(["---"] * len(heads))
    yield from map(_row, rows)
    yield ""


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
