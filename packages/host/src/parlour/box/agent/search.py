"""Searches files of the workspace, in a child process that a slow pattern can't survive."""

import fnmatch
import json
import os
import re
from collections.abc import Iterator

from files import ROOT, Fields, Refused, resolve  # type: ignore[import-not-found]  # a neighbour in the sandbox

MAX_MATCHES = 200
MAX_LINE_CHARACTERS = 400
SKIPPED_FOLDERS = {".git", "node_modules", ".venvs", ".skills", "__pycache__"}


def fork(request: Fields) -> tuple[int, int]:
    """Starts a search. Returns the child and the pipe that will have its answer as JSON."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child:
        os.close(write_end)
        return child, read_end
    os.close(read_end)
    with open(write_end, "wb") as pipe:
        pipe.write(json.dumps(_answer(request)).encode())
    os._exit(0)


def _answer(request: Fields) -> Fields:
    try:
        return {"result": _glob(request) if request["op"] == "glob" else _grep(request)}
    except Refused as refusal:
        return {"error": {"code": refusal.code, "message": str(refusal)}}
    except OSError as error:
        return {"error": {"code": "path_refused", "message": str(error)}}


def _glob(request: Fields) -> Fields:
    whole = os.path.join(ROOT, request["pattern"])
    patterns = (whole, whole.replace("**/", ""))
    found = [path for path in _files(ROOT, whole) if any(fnmatch.fnmatchcase(path, each) for each in patterns)]
    return {"items": found[:MAX_MATCHES], "more": max(0, len(found) - MAX_MATCHES)}


def _grep(request: Fields) -> Fields:
    try:
        expression = re.compile(request["pattern"])
    except re.error as error:
        raise Refused("invalid_spec", f"pattern: {error}") from None
    start, only = resolve(request.get("path") or ROOT), request.get("glob") or "*"
    lines: list[str] = []
    for path in [start] if os.path.isfile(start) else _files(start, start):
        if not fnmatch.fnmatchcase(os.path.basename(path), only) or os.path.islink(path) or not os.path.isfile(path):
            continue
        for line in _matching_lines(path, expression):
            if len(lines) == MAX_MATCHES:
                return {"items": lines, "more": 1}
            lines.append(line)
    return {"items": lines, "more": 0}


def _matching_lines(path: str, expression: re.Pattern[str]) -> Iterator[str]:
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if b"\0" in line:
                return
            text = line.decode("utf-8", "replace").rstrip("\n")
            if expression.search(text):
                yield f"{path}:{number}: {text[:MAX_LINE_CHARACTERS]}"


def _files(start: str, named: str) -> Iterator[str]:
    """Yields the files below a folder. Folders that are rarely wanted are skipped unless `named` names them."""
    skipped = SKIPPED_FOLDERS - set(named.split("/"))
    for folder, folders, names in os.walk(start):
        folders[:] = sorted(each for each in folders if each not in skipped)
        for name in sorted(names):
            yield os.path.join(folder, name)
