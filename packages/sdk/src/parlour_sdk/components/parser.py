"""Defines Parser, the component that converts files of some format into text for a knowledge base."""

import base64
from abc import ABC, abstractmethod
from typing import Any

from parlour_sdk.protocol.knowledge import KnowledgeFile, ParsedFile


class Parser(ABC):
    """One instance serves all files. The component's file lists the formats that it reads."""

    @abstractmethod
    async def parse(self, file: KnowledgeFile, config: dict[str, Any]) -> ParsedFile | str: ...


def content_of(file: KnowledgeFile) -> bytes:
    """Returns the file's bytes."""
    if file.content_base64 is None:
        return (file.text or "").encode()
    return base64.b64decode(file.content_base64)
