"""Writes results of commands as models read them: the outputs, shortened in the middle, and how the command ended."""

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

MAX_OUTPUT_CHARACTERS: Final = 4000
HEAD_SHARE: Final = 0.6
STATUS_SENTENCES: Final = {
    "memory": "The command was killed because it used more memory than the sandbox has.",
    "processes": "The command failed because it started more processes than the sandbox allows.",
    "quota": "The command was killed because the workspace is full.",
}
LOST_FILES: Final = "The files are lost, since this workspace is in memory."

_UNREACHABLE: Final = re.compile(
    r"network is unreachable|name or service not known|temporary failure in name resolution|could not resolve host"
    r"|failed to resolve|dns error|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)",
    re.IGNORECASE,
)
"""What programs write when they reach no other machine."""


def decoded_output(stream: Mapping[str, Any]) -> str:
    """Returns the kept part of an output as text, with a note where the sandbox left something out."""
    kept = base64.b64decode(stream["data"])
    missing = int(stream["bytes"]) - len(kept)
    if missing <= 0:
        return kept.decode(errors="replace")
    head, tail = kept[: stream["head"]], kept[stream["head"] :]
    return f"{head.decode(errors='replace')}\n[{missing} bytes left out]\n{tail.decode(errors='replace')}"


def shorten(text: str) -> str:
    """Returns a text within the limit: 60 % from its beginning and 40 % from its end."""
    if len(text) <= MAX_OUTPUT_CHARACTERS:
        return text
    head = int(MAX_OUTPUT_CHARACTERS * HEAD_SHARE)
    tail = MAX_OUTPUT_CHARACTERS - head
    omitted = len(text) - MAX_OUTPUT_CHARACTERS
    return f"{text[:head]}\n[{omitted} characters left out]\n{text[-tail:]}"


def outcome_sentence(result: Mapping[str, Any], timeout_seconds: float) -> str:
    """Returns how the command ended, if there is anything to say about it."""
    match result["status"]:
        case "timed_out":
            files = LOST_FILES if result.get("files_lost") else "The files are kept."
            return f"The command did not end within {timeout_seconds:g} s and was stopped. {files}"
        case "killed":
            sentence = STATUS_SENTENCES.get(str(result.get("reason")), "The command was killed.")
            return f"{sentence} {LOST_FILES}" if result.get("files_lost") else sentence
        case _:
            code = result["code"]
            if result.get("reason") == "quota":
                return f"Exit code {code}. The workspace is full: delete files that are not needed any more."
            if code is not None and code < 0:
                return f"Ended by signal {-code}."
            return f"Exit code {code}." if code else ""


def network_sentence(output: str, has_network: bool) -> str:
    """Returns why a command reached no other machine, if its output says that it did not."""
    return "" if has_network or not _UNREACHABLE.search(output) else "This sandbox has no network."
