"""A bot written with slack_sdk in Socket Mode, as users of that library write them. It repeats the messages.

`python slack_sdk_bot.py ADDRESS BOT_TOKEN APP_TOKEN` connects to the Web API at that address.
"""

import asyncio
import sys

from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

address, bot_token, app_token = sys.argv[1:]
web = AsyncWebClient(token=bot_token, base_url=f"{address}/")
own_id = ""


async def handle(client: SocketModeClient, request: SocketModeRequest) -> None:
    await client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))
    if request.type == "interactive":
        channel, moment = request.payload["channel"]["id"], request.payload["container"]["message_ts"]
        await web.chat_update(channel=channel, ts=moment, text=f"pressed {request.payload['actions'][0]['value']}")
    elif request.type == "slash_commands":
        await web.chat_postMessage(channel=request.payload["channel_id"], text=f"command {request.payload['text']}")
    elif request.payload["event"]["type"] == "message" and request.payload["event"].get("user") not in (own_id, None):
        await answer(request.payload["event"])


async def answer(event: dict) -> None:
    channel, text = event["channel"], event["text"]
    match text:
        case "!buttons":
            button = {
                "type": "button",
                "text": {"type": "plain_text", "text": "Yes"},
                "action_id": "yes",
                "value": "yes",
            }
            blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "sure?"}}]
            await web.chat_postMessage(
                channel=channel, text="sure?", blocks=[*blocks, {"type": "actions", "elements": [button]}]
            )
        case "!files":
            files = [{"content": "one", "filename": "a.txt"}, {"content": "two", "filename": "b.txt"}]
            await web.files_upload_v2(channel=channel, file_uploads=files, initial_comment="files")
        case "!errors":
            await web.chat_postMessage(
                channel=channel, text="\n".join([await problem(each) for each in refused(event)])
            )
        case _:
            await web.chat_postMessage(channel=channel, text=f"you said: {text}", thread_ts=event["ts"])
            await web.reactions_add(channel=channel, timestamp=event["ts"], name="thumbsup")


def refused(event: dict) -> list:
    channel = event["channel"]
    return [
        web.chat_postMessage(channel="C404", text="x"),
        web.chat_postMessage(channel=channel, text="x" * 40_001),
        web.chat_update(channel=channel, ts=event["ts"], text="not mine"),
        web.reactions_add(channel=channel, timestamp=event["ts"], name="no_such"),
        web.users_info(user="U404"),
    ]


async def problem(call) -> str:
    try:
        await call
    except SlackApiError as error:
        return error.response["error"]
    return "accepted"


async def main() -> None:
    global own_id
    own_id = (await web.auth_test())["user_id"]
    client = SocketModeClient(app_token=app_token, web_client=web)
    client.socket_mode_request_listeners.append(handle)
    await client.connect()
    await asyncio.Event().wait()


asyncio.run(main())
