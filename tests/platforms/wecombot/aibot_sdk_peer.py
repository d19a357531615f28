"""Runs wecom-aibot-sdk in its own environment as a bot that repeats texts in two stream frames and sends a file."""

import asyncio
import sys

from wecom_aibot_sdk import WSClient  # type: ignore[import-not-found]


async def main(bot_id: str, secret: str, url: str) -> None:
    client = WSClient(bot_id, secret, ws_url=url, heartbeat_interval=200)
    done = asyncio.Event()

    async def repeat(frame: dict[str, object]) -> None:
        body = frame["body"]
        assert isinstance(body, dict)
        text = body["text"]["content"]
        if text == "end":
            done.set()
            return
        await client.reply_stream(frame, "stream-1", text[:3], False)
        await client.reply_stream(frame, "stream-1", text, True)
        media = await client.upload_media(b"x" * 700_000, type="file", filename="a.bin")
        media_id = media["media_id"] if isinstance(media, dict) else media.media_id
        sent = {"msgtype": "file", "file": {"media_id": media_id}}
        await client.send_message(body["from"]["userid"], sent)

    client.on("message.text", repeat)

    await client.connect()
    await done.wait()
    await client.disconnect()


asyncio.run(main(*sys.argv[1:]))
