"""A bot written with pywa, as users of that library write them. It repeats the messages.

`python pywa_bot.py ADDRESS NUMBER_ID ACCESS_TOKEN APP_SECRET VERIFY_TOKEN` prints the address at which it is called.
pywa has no setting for the address of the Graph API; the address of its HTTP session is changed after it was made.
"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import httpx
from pywa import WhatsApp, filters, types
from pywa.errors import WhatsAppError

address, number_id, access_token, app_secret, verify_token = sys.argv[1:]
session = httpx.Client()
wa = WhatsApp(
    phone_id=number_id,
    token=access_token,
    session=session,
    verify_token=verify_token,
    app_secret=app_secret,
)
session.base_url = f"{address}{session.base_url.path}"


def problem(call):
    try:
        call()
    except WhatsAppError as error:
        return type(error).__name__
    return "accepted"


@wa.on_message(filters.text)
def on_text(_, message):
    if message.text == "!buttons":
        message.reply("sure?", buttons=[types.Button("Yes", "yes"), types.Button("No", "no")])
    elif message.text == "!list":
        rows = [types.SectionRow(title=f"row {number}", callback_data=f"r{number}") for number in range(5)]
        message.reply("which?", buttons=types.SectionList("Open", [types.Section("All", rows)]))
    elif message.text == "!react":
        message.react("\N{THUMBS UP SIGN}")
        message.mark_as_read()
        message.indicate_typing()
    elif message.text == "!file":
        wa.send_document(
            message.from_user.wa_id, document=b"hello", filename="a.txt", mime_type="text/plain", caption="here"
        )
    elif message.text == "!errors":
        calls = [
            lambda: message.reply(""),
            lambda: message.reply("x" * 4097),
            lambda: wa.send_image(message.from_user.wa_id, image="404"),
            lambda: message.reply("x", buttons=[types.Button("one title", str(number)) for number in range(4)]),
            lambda: wa.get_media_url("404"),
        ]
        message.reply(" ".join(problem(each) for each in calls))
    elif message.text == "!number":
        message.reply(wa.get_business_phone_number().verified_name)
    else:
        message.reply(f"you said: {message.text}", quote=True)


@wa.on_message(filters.image)
def on_image(_, message):
    message.reply(f"{len(message.image.get_bytes())} bytes, {message.caption}")


@wa.on_callback_button
def on_button(_, pressed):
    pressed.reply(f"pressed {pressed.data}")


@wa.on_callback_selection
def on_selection(_, chosen):
    chosen.reply(f"chose {chosen.data}")


@wa.on_message(filters.reaction)
def on_reaction(_, message):
    message.reply(f"felt {message.reaction.emoji}")


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        self.answer(*wa.webhook_challenge_handler(query["hub.verify_token"], query["hub.challenge"]))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        refused = wa.webhook_update_validator(body, self.headers["X-Hub-Signature-256"])
        self.answer(*(refused or wa.webhook_update_handler(body)))

    def answer(self, text, status):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())


server = HTTPServer(("127.0.0.1", 0), Handler)
sys.stdout.write(f"http://127.0.0.1:{server.server_port}/\n")
sys.stdout.flush()
server.serve_forever()
