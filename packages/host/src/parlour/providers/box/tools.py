"""Source of the tools of the Box: commands and files in the sandbox of the run's session."""

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from parlour.core.box.policy import BOX_TOOLS
from parlour.core.model.ports import Clock
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour_sdk.protocol.content import MediaElement, TextElement
from parlour_sdk.protocol.tools import ToolOutcome

from ..tools.source import OfferedTool, error_outcome, text_outcome
from .audit import BoxAudit
from .callers import BoxCaller, BoxCallers
from .connection import BoxConnection
from .output_artifacts import OutputArtifacts
from .results import decoded_output, outcome_sentence, shorten
from .service import BoxService
from .tool_definitions import DEFINITIONS

MAX_WRITE_BYTES: Final = 1024 * 1024
MAX_READ_LINES: Final = 2000
MAX_READ_BYTES: Final = 64 * 1024
MAX_PICTURE_BYTES: Final = 5 * 1024 * 1024
EXEC_MARGIN_SECONDS: Final = 35.0
"""Seconds that a call may take beyond the time of its command: the start of the sandbox, and the answer."""
PICTURES: Final = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


class BoxTools:
    """The tools of the Box, which are offered while it is ready."""

    def __init__(
        self,
        service: BoxService,
        connection: BoxConnection,
        callers: BoxCallers,
        outputs: OutputArtifacts,
        audit: BoxAudit,
        is_wanted: Callable[[], bool],
        clock: Clock,
    ) -> None:
        self._service = service
        self._connection = connection
        self._callers = callers
        self._outputs = outputs
        self._audit = audit
        self._is_wanted = is_wanted
        self._clock = clock
        self._none: tuple[OfferedTool, ...] = ()

    def tools(self) -> Sequence[OfferedTool]:
        if self._connection.status.state == "ready":
            return DEFINITIONS
        if self._is_wanted():
            self._connection.start()
        return self._none

    async def call(self, context: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        caller = await self._callers.find(context)
        if tool_name not in caller.policy.tool_names:
            raise ProviderFailed("policy_denied", f"the agent's box policy does not have {tool_name}")
        tool = tool_name.partition(".")[2]
        started_at, session_id = self._clock.now(), caller.session.session_id
        assert tool in BOX_TOOLS
        try:
            outcome, result = await (
                self._exec(caller, parameters) if tool == "exec" else self._file(caller, tool, parameters)
            )
        except ProviderFailed as failure:
            await self._audit.record(context, tool_name, parameters, session_id, started_at, failure)
            if failure.code in ("box_unavailable", "capacity_exceeded"):
                raise
            return error_outcome(failure.message)
        await self._audit.record(context, tool_name, parameters, session_id, started_at, result)
        return outcome

    async def _exec(self, caller: BoxCaller, parameters: Mapping[str, Any]) -> tuple[ToolOutcome, dict[str, Any]]:
        limits = caller.policy.limits
        wanted = float(parameters.get("timeout_sec") or limits.timeout_seconds)
        seconds = min(wanted, limits.max_timeout_seconds)
        request = {
            "session": caller.session.model_dump(),
            "command": parameters["command"],
            "workdir": parameters.get("workdir") or "/workspace",
            "timeout_seconds": seconds,
        }
        result = await self._service.call("box_exec", request, seconds + EXEC_MARGIN_SECONDS)
        parts, refs = [], []
        for name in ("stdout", "stderr"):
            whole = decoded_output(result[name])
            shown = shorten(whole)
            if shown:
                parts.append(shown if name == "stdout" else f"[stderr]\n{shown}")
            if shown != whole and caller.run is not None:
                refs.append(await self._outputs.store(caller.run, f"{name}.txt", whole.encode(errors="replace")))
        clamped = (
            f"The time limit was lowered to {seconds:g} s, the most that this agent has." if wanted > seconds else ""
        )
        sentence = outcome_sentence(result, seconds)
        text = "\n".join(filter(None, [*parts, sentence, clamped])) or "The command ended without output."
        failed = result["status"] != "completed" or result["code"] != 0
        outcome = ToolOutcome(
            content=[TextElement(text=text)], is_error=failed, artifact_refs=refs, truncated=bool(refs)
        )
        bytes_out = int(result["stdout"]["bytes"]) + int(result["stderr"]["bytes"])
        return outcome, {**{name: result.get(name) for name in ("status", "reason", "code")}, "bytes_out": bytes_out}

    async def _file(
        self, caller: BoxCaller, tool: str, parameters: Mapping[str, Any]
    ) -> tuple[ToolOutcome, dict[str, Any]]:
        match tool:
            case "read":
                return await self._read(caller, parameters)
            case "write":
                content = str(parameters["content"]).encode(errors="replace")
                if len(content) > MAX_WRITE_BYTES:
                    raise ProviderFailed("invalid_argument", f"content: at most {MAX_WRITE_BYTES} bytes can be written")
                data = base64.b64encode(content).decode()
                answer = await self._request(caller, "write", path=parameters["path"], data=data)
                text = f"Wrote {answer['size']} bytes to {parameters['path']}."
            case "edit":
                answer = await self._request(caller, "edit", **parameters, limit=MAX_WRITE_BYTES)
                text = f"Replaced {answer['replaced']} in {parameters['path']}."
            case _:
                answer = await self._request(caller, tool, **parameters)
                more = f"\n[{answer['more']} more are left out]" if answer["more"] else ""
                text = ("\n".join(answer["items"]) or "Nothing was found.") + more
        return text_outcome(text), {"status": "completed"}

    async def _read(self, caller: BoxCaller, parameters: Mapping[str, Any]) -> tuple[ToolOutcome, dict[str, Any]]:
        path = str(parameters["path"])
        first = await self._request(caller, "read", path=path)
        content, size = base64.b64decode(first["data"]), int(first["size"])
        mime_type = next((kind for magic, kind in PICTURES.items() if content.startswith(magic)), "")
        if mime_type:
            content = await self.read_whole(caller, path, content, size, MAX_PICTURE_BYTES)
            picture = MediaElement(
                type="image",
                name=path.rpartition("/")[2],
                mime_type=mime_type,
                content_base64=base64.b64encode(content).decode(),
            )
            return ToolOutcome(content=[TextElement(text=path), picture]), {"status": "completed", "bytes_out": size}
        if b"\0" in content[:8192]:
            raise ProviderFailed("invalid_argument", f"{path} is neither text nor a picture")
        start, number = int(parameters.get("offset", 1)), int(parameters.get("limit", MAX_READ_LINES))
        offset = 0
        lines: list[str] = []
        kept, seen, rest = 0, 0, b""
        while True:
            pieces = (rest + content).split(b"\n")
            offset += len(content)
            is_last = offset >= size or not content
            rest = b"" if is_last else pieces.pop()
            for piece in pieces:
                seen += 1
                if start <= seen < start + number and kept <= MAX_READ_BYTES:
                    kept += len(piece) + 1
                    lines.append(piece.decode(errors="replace"))
            if is_last or kept > MAX_READ_BYTES or seen >= start + number:
                break
            content = base64.b64decode((await self._request(caller, "read", path=path, offset=offset))["data"])
        end = start + len(lines)
        more = "" if is_last and end > seen else f"\n[read on with offset {end}]"
        return text_outcome("\n".join(lines) + more), {"status": "completed", "bytes_out": kept}

    async def read_whole(self, caller: BoxCaller, path: str, begun: bytes, size: int, limit: int) -> bytes:
        """Reads the rest of a file of which a part was read."""
        if size > limit:
            raise ProviderFailed("payload_too_large", f"{path} has {size} bytes; at most {limit} can be taken")
        content = bytearray(begun)
        while len(content) < size:
            answer = await self._request(caller, "read", path=path, offset=len(content))
            piece = base64.b64decode(answer["data"])
            if not piece:
                break
            content += piece
        return bytes(content)

    async def _request(self, caller: BoxCaller, operation: str, **fields: Any) -> dict[str, Any]:
        request = {"session": caller.session.model_dump(), "operation": operation, "fields": fields}
        answer: dict[str, Any] = await self._service.call("box_file", request, EXEC_MARGIN_SECONDS)
        return answer
