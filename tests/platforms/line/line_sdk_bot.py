"""A bot written with line-bot-sdk, as users of that library write them. It repeats the messages.

`python line_sdk_bot.py ADDRESS ACCESS_TOKEN CHANNEL_SECRET` calls the Messaging API at that address and prints the
address at which it is called.
"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from linebot.v3 import WebhookParser
from linebot.v3.exceptions import InvalidSignatureError
from linebot.v3.messaging import (
    ApiClient,
    ApiException,
    Configuration,
    MessagingApi,
    MessagingApiBlob,
    PushMessageRequest,
    ReplyMessageRequest,
    TextMessage,
)

address, access_token, channel_secret = sys.argv[1:]
client = ApiClient(Configuration(host=address, access_token=access_token))
api, contents, parser = MessagingApi(client), MessagingApiBlob(client), WebhookParser(channel_secret)


def reply(event, text):
    api.reply_message(ReplyMessageRequest(reply_token=event.reply_token, messages=[TextMessage(text=text)]))


def handle(event):
    if event.type == "postback":
        reply(event, f"pressed {event.postback.data}")
    elif event.type == "follow":
        reply(event, f"welcome {api.get_profile(event.source.user_id).display_name}")
    elif event.message.type == "image":
        reply(event, f"{len(contents.get_message_content(event.message.id))} bytes")
    elif event.message.text == "!push":
        request = PushMessageRequest(to=event.source.user_id, messages=[TextMessage(text="pushed")])
        key = "123e4567-e89b-12d3-a456-426614174000"
        first = api.push_message(request, x_line_retry_key=key)
        reply(event, f"{first.sent_messages[0].id} {problem(lambda: api.push_message(request, x_line_retry_key=key))}")
    elif event.message.text == "!errors":
        calls = [
            lambda: reply(event, ""),
            lambda: reply(event, "x" * 5001),
            lambda: api.get_profile("U404"),
            lambda: api.push_message(PushMessageRequest(to="nobody", messages=[TextMessage(text="x")])),
        ]
        reply(event, " ".join(str(problem(each)) for each in calls))
    else:
        reply(event, f"you said: {event.message.text}")


def problem(call):
    try:
        call()
    except ApiException as error:
        return error.status
    return "accepted"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        try:
            events = parser.parse(body, self.headers["X-Line-Signature"])
        except InvalidSignatureError:
            self.send_response(400)
            self.end_headers()
            return
        for event in events:
            handle(event)
        self.send_response(200)
        self.end_headers()


server = HTTPServer(("127.0.0.1", 0), Handler)
sys.stdout.write(f"http://127.0.0.1:{server.server_port}/\n")
sys.stdout.flush()
server.serve_forever()
