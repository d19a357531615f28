"""Asks an A2A agent twice with the unmodified client of a2a-sdk, and prints what it said. Arguments: address."""

import asyncio
import sys

from a2a.client import ClientConfig, create_client
from a2a.helpers.proto_helpers import get_stream_response_text, new_text_message
from a2a.types import Role, SendMessageRequest


async def main(address: str) -> None:
    client = await create_client(address, ClientConfig(streaming=True))
    said = []
    for text in ("hi", "again"):
        message = new_text_message(text, role=Role.ROLE_USER)
        async for event in client.send_message(SendMessageRequest(message=message)):
            said.append(get_stream_response_text(event))
    print("".join(said))


asyncio.run(main(sys.argv[1]))
