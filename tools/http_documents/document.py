"""Builds the OpenAPI document from the routes of a Host that is opened only for this and serves no requests."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from parlour.app.bootstrap import open_host
from parlour.app.host import HostExtensions
from parlour.app.log_setup import build_redactor
from parlour.app.settings import HostSettings
from parlour.app.web.host_app import build_host_app


def made() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_build(HostSettings(data=Path(folder))))


def text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


async def _build(settings: HostSettings) -> dict[str, Any]:
    async with open_host(settings, HostExtensions(), build_redactor(settings)) as host:
        return build_host_app(settings, host).build_document()
