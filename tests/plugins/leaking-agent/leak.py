"""Leaks its secret in the way that the message names: in its log, as its failure, by crashing, in a refused call."""

import hashlib
import sys
from collections.abc import AsyncGenerator

from parlour_sdk import results
from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result


class Leak(AgentRunner):
    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        secret = ctx.config["api_key"]
        match ctx.input.text:
            case "log":
                print(f"connecting with {secret}", file=sys.stderr, flush=True)  # noqa: T201
                yield results.completed("logged")
            case "fail":
                yield results.failed("leak.refused", f"the server refused the key {secret}")
            case "crash":
                raise RuntimeError(f"the key {secret} is wrong")
            case "call":
                try:
                    await api.tools.call(f"tool-{secret}", {})
                except AgentAPIException as refusal:
                    yield results.failed("leak.call", str(refusal))
            case _:
                yield results.completed(hashlib.sha256(secret.encode()).hexdigest())
