"""An MCP server over stdio that misbehaves in the manner its argument names."""

import base64
import json
import os
import sys
from typing import Any

MANNER = sys.argv[1]
SCHEMA = {"type": "object", "properties": {}}
TOOLS = ("noise", "large", "controls", "picture", "data", "act")


def say(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def tools() -> list[dict[str, Any]]:
    listed = [{"name": name, "inputSchema": SCHEMA} for name in TOOLS]
    if MANNER == "names":
        listed += [{"name": "two words", "inputSchema": SCHEMA}, {"name": "x" * 200, "inputSchema": SCHEMA}]
        listed += [{"name": "act", "inputSchema": SCHEMA}, {"name": "", "inputSchema": SCHEMA}]
        deep: dict[str, Any] = {"type": "object"}
        for _ in range(50):
            deep = {"type": "object", "properties": {"a": deep}}
        listed += [{"name": "deep", "inputSchema": deep}]
    return listed


def content(tool: str) -> list[dict[str, Any]]:
    match tool:
        case "noise":
            return [{"type": "text", "text": bytes(range(256)).decode("latin-1") * 20}]
        case "large":
            return [{"type": "text", "text": "x" * 1024 * 1024}] * 6
        case "controls":
            return [{"type": "text", "text": "a plain sentence \x1b[31mwith colour\x00 in it"}]
        case "picture":
            return [{"type": "image", "mimeType": "image/png", "data": base64.b64encode(bytes(1024 * 1024)).decode()}]
        case _:
            return [{"type": "text", "text": "acted"}]


def answer(request: dict[str, Any]) -> Any:
    match request["method"]:
        case "initialize":
            version = request["params"]["protocolVersion"]
            info = {"name": "hostile", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": tools()}
        case "tools/call":
            return called(request["params"]["name"])
        case _:
            return None


def called(tool: str) -> dict[str, Any]:
    if MANNER == "line" and tool == "act":
        while True:
            sys.stdout.write("x" * 1024 * 1024)
    if MANNER == "exit" and tool == "act":
        sys.stderr.write("there is no way on\n")
        sys.stderr.flush()
        os._exit(7)
    if tool == "data":
        return {"content": [], "structuredContent": {"rows": [{"n": n} for n in range(100_000)]}}
    return {"content": content(tool)}


def main() -> None:
    if MANNER == "garbage":
        sys.stdout.write("this server greets people on its standard output\n{]\n\xff\n")
        sys.stdout.flush()
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request)
        if result is None:
            say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "unknown"}})
        else:
            say({"jsonrpc": "2.0", "id": request["id"], "result": result})


main()
