"""Fakes of all agent services, which answer immediately with `pong` and the token of the question. Run as a file.

Prints a JSON object with the address of each.
"""

import asyncio
import json
import re
import sys
from contextlib import AsyncExitStack

from parlour_sdk.testing import services
from parlour_sdk.testing.services import FakeService, RecordedRequest, ServiceReply

TOKEN = re.compile(rb"t\d{7}")
FAKES = {
    "dify-agent": services.FakeDify,
    "n8n-agent": services.FakeN8n,
    "coze-agent": services.FakeCoze,
    "dashscope-agent": services.FakeDashScope,
    "tbox-agent": services.FakeTbox,
    "langflow-agent": services.FakeLangflow,
    "deerflow-agent": services.FakeDeerFlow,
    "weknora-agent": services.FakeWeKnora,
    "a2a-agent": services.FakeA2a,
    "litellm-agent-platform-agent": services.FakeAgentPlatform,
}


def answering(fake: type[FakeService]) -> FakeService:
    class Answering(fake):  # type: ignore[misc, valid-type]
        async def handle(self, request: RecordedRequest) -> ServiceReply:
            tokens = TOKEN.findall(request.body)
            self.pieces = ["po", "ng ", tokens[-1].decode() if tokens else ""]
            self.requests.clear()
            return await super().handle(request)

    return Answering()


async def serve() -> None:
    async with AsyncExitStack() as stack:
        fakes = {name: await stack.enter_async_context(answering(fake)) for name, fake in FAKES.items()}
        print(json.dumps({name: fake.url for name, fake in fakes.items()}), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # until the parent process exits


if __name__ == "__main__":
    asyncio.run(serve())
