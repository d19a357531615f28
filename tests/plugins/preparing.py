"""Delays every prompt until the file `go` appears in the plugin's data folder."""

import asyncio
import os
from pathlib import Path
from typing import Any

from parlour_sdk import EventContext, on, plugin

plugin("test/preparing", version="0.1.0", permissions={"events": ["*"]})


@on("prompt.preparing")
async def prepare(event: Any, ctx: EventContext) -> None:
    while not (Path(os.environ["PARLOUR_PLUGIN_DATA"]) / "go").exists():
        await asyncio.sleep(0.01)
