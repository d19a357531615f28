"""Builds the OpenAPI document from the routes of a Host that is opened only for this and serves no requests."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from parlour.app.bootstrap import open_host
from parlour.app.host import Additions
from parlour.app.settings import Settings
from parlour.app.web.interface import interface


def made() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_made(Settings(data=Path(folder))))


def text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


async def _made(settings: Settings) -> dict[str, Any]:
    async with open_host(settings, Additions()) as host:
        return interface(settings, host).document()
