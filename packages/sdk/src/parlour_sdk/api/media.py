"""Uploads files to a bot's platform and returns their addresses."""

from base64 import b64encode
from contextlib import aclosing

from parlour_sdk.protocol.platform_api import FileUrl, GetFileUrl, UploadedFile, UploadFile

from .calls import Namespace
from .chunks import Content, iter_chunks


class MediaAPI(Namespace):
    async def upload(self, bot_id: str, content: Content, filename: str) -> UploadedFile:
        """Uploads content of any size: bytes, a path or an async iterator of bytes.

        The result has the platform's id or address of the file.
        """
        upload_id: str | None = None
        async with aclosing(iter_chunks(content, "upload_file")) as parts:
            async for piece, last in parts:
                answer = await self._calls.call(
                    "upload_file",
                    UploadFile,
                    UploadedFile,
                    bot_id=bot_id,
                    content_base64=b64encode(piece).decode(),
                    filename=filename,
                    upload_id=upload_id,
                    is_last=last,
                )
                upload_id = answer.upload_id
        return answer

    async def url(self, bot_id: str, file_id: str) -> str:
        return (await self._calls.call("get_file_url", GetFileUrl, FileUrl, bot_id=bot_id, file_id=file_id)).url
