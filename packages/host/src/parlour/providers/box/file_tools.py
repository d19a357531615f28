"""The tools of the Box that read, write and search files."""

import base64
from collections.abc import Mapping
from typing import Any, Final

from parlour.core.model.providers import ProviderFailed
from parlour_sdk.protocol.content import MediaElement, TextElement
from parlour_sdk.protocol.tools import ToolOutcome

from ..tools.source import text_outcome
from .callers import BoxCaller
from .files import BoxFiles

MAX_WRITE_BYTES: Final = 1024 * 1024
MAX_READ_LINES: Final = 2000
MAX_READ_BYTES: Final = 64 * 1024
MAX_PICTURE_BYTES: Final = 5 * 1024 * 1024
PICTURES: Final = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


class BoxFileTools:
    """The tools `read`, `write`, `edit`, `glob` and `grep`."""

    def __init__(self, files: BoxFiles) -> None:
        self._files = files

    async def run(
        self, caller: BoxCaller, tool: str, parameters: Mapping[str, Any]
    ) -> tuple[ToolOutcome, dict[str, Any]]:
        match tool:
            case "read":
                return await self._read(caller, parameters)
            case "write":
                content = str(parameters["content"]).encode(errors="replace")
                if len(content) > MAX_WRITE_BYTES:
                    raise ProviderFailed("invalid_argument", f"content: at most {MAX_WRITE_BYTES} bytes can be written")
                size = await self._files.write_whole(caller.session, str(parameters["path"]), content)
                text = f"Wrote {size} bytes to {parameters['path']}."
            case "edit":
                answer = await self._files.request(caller.session, "edit", **parameters, limit=MAX_WRITE_BYTES)
                text = f"Replaced {answer['replaced']} in {parameters['path']}."
            case _:
                answer = await self._files.request(caller.session, tool, **parameters)
                more = f"\n[{answer['more']} more are left out]" if answer["more"] else ""
                text = ("\n".join(answer["items"]) or "Nothing was found.") + more
        return text_outcome(text), {"status": "completed"}

    async def _read(self, caller: BoxCaller, parameters: Mapping[str, Any]) -> tuple[ToolOutcome, dict[str, Any]]:
        path = str(parameters["path"])
        content, size = await self._files.read(caller.session, path)
        mime_type = next((kind for magic, kind in PICTURES.items() if content.startswith(magic)), "")
        if mime_type:
            content = await self._files.read_whole(caller.session, path, MAX_PICTURE_BYTES)
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
            content, _ = await self._files.read(caller.session, path, offset)
        end = start + len(lines)
        more = "" if is_last and end > seen else f"\n[read on with offset {end}]"
        return text_outcome("\n".join(lines) + more), {"status": "completed", "bytes_out": kept}
