"""A bot written with lark-oapi over the long connection, as users of that library write them. It repeats messages.

`python lark_oapi_bot.py ADDRESS APP_ID APP_SECRET` connects to that address. With `verify KEY TOKEN`
instead, it reads calls as JSON lines of `body` and `headers`, and prints what its own dispatcher makes of each.
"""

import json
import sys
from pathlib import Path

import lark_oapi as lark
from lark_oapi.api.cardkit.v1 import (
    ContentCardElementRequest,
    ContentCardElementRequestBody,
    CreateCardRequest,
    CreateCardRequestBody,
    SettingsCardRequest,
    SettingsCardRequestBody,
)
from lark_oapi.api.im.v1 import (
    CreateFileRequest,
    CreateFileRequestBody,
    CreateMessageReactionRequest,
    CreateMessageReactionRequestBody,
    CreateMessageRequest,
    CreateMessageRequestBody,
    Emoji,
    GetMessageResourceRequest,
    PatchMessageRequest,
    PatchMessageRequestBody,
    ReplyMessageRequest,
    ReplyMessageRequestBody,
)
from lark_oapi.core.model import RawRequest
from lark_oapi.event.callback.model.p2_card_action_trigger import P2CardActionTrigger, P2CardActionTriggerResponse

STREAMING = {"schema": "2.0", "config": {"streaming_mode": True, "update_multi": True},
             "body": {"elements": [{"tag": "markdown", "content": "", "element_id": "md_1"}]}}  # fmt: skip


def verify(key: str, token: str) -> None:
    seen = []
    handler = lark.EventDispatcherHandler.builder(key, token)
    handler = handler.register_p2_im_message_receive_v1(lambda data: seen.append(data.event.message.content)).build()
    for line in sys.stdin:
        call, seen[:] = json.loads(line), []
        request = RawRequest()
        request.uri, request.body, request.headers = "/", call["body"].encode(), call["headers"]
        response = handler.do(request)
        answer = {"status": response.status_code, "body": response.content.decode(), "seen": seen}
        sys.stdout.write(f"{json.dumps(answer)}\n")


class Bot:
    def __init__(self, address: str, app_id: str, app_secret: str) -> None:
        self.client = lark.Client.builder().app_id(app_id).app_secret(app_secret).domain(address).build()
        handler = (
            lark.EventDispatcherHandler.builder("", "")
            .register_p2_im_message_receive_v1(self.received)
            .register_p2_card_action_trigger(self.pressed)
            .build()
        )
        self.connection = lark.ws.Client(app_id, app_secret, event_handler=handler, domain=address)

    def send(self, chat_id: str, kind: str, content: dict) -> str:
        body = (
            CreateMessageRequestBody.builder().receive_id(chat_id).msg_type(kind).content(json.dumps(content)).build()
        )
        request = CreateMessageRequest.builder().receive_id_type("chat_id").request_body(body).build()
        response = self.client.im.v1.message.create(request)
        assert response.success(), (response.code, response.msg)
        return response.data.message_id

    def received(self, data) -> None:
        message = data.event.message
        content = json.loads(message.content)
        if message.message_type == "image":
            builder = GetMessageResourceRequest.builder().message_id(message.message_id)
            response = self.client.im.v1.message_resource.get(
                builder.file_key(content["image_key"]).type("image").build()
            )
            self.send(message.chat_id, "text", {"text": f"image of {len(response.file.read())} bytes"})
            return
        match content["text"]:
            case "!card":
                button = {"tag": "button", "text": {"tag": "plain_text", "content": "Yes"},
                          "behaviors": [{"type": "callback", "value": {"answer": "yes"}}]}  # fmt: skip
                elements = [{"tag": "markdown", "content": "sure?"}, button]
                card = {"schema": "2.0", "config": {"update_multi": True}, "body": {"elements": elements}}
                self.send(message.chat_id, "interactive", card)
            case "!stream":
                self.stream(message.chat_id)
            case "!file":
                Path("a.txt").write_bytes(b"hello")
                with Path("a.txt").open("rb") as file:
                    body = CreateFileRequestBody.builder().file_type("stream").file_name("a.txt").file(file).build()
                    answer = self.client.im.v1.file.create(CreateFileRequest.builder().request_body(body).build())
                self.send(message.chat_id, "file", {"file_key": answer.data.file_key})
            case "!error":
                response = self.client.im.v1.message.patch(
                    PatchMessageRequest.builder()
                    .message_id(message.message_id)
                    .request_body(PatchMessageRequestBody.builder().content("{}").build())
                    .build()
                )
                self.send(message.chat_id, "text", {"text": f"code {response.code}"})
            case text:
                self.answer(message.message_id, text)

    def answer(self, message_id: str, text: str) -> None:
        body = ReplyMessageRequestBody.builder().msg_type("text").content(json.dumps({"text": f"you said: {text}"}))
        request = ReplyMessageRequest.builder().message_id(message_id).request_body(body.build()).build()
        assert self.client.im.v1.message.reply(request).success()
        emoji = Emoji.builder().emoji_type("THUMBSUP").build()
        reaction = CreateMessageReactionRequestBody.builder().reaction_type(emoji).build()
        request = CreateMessageReactionRequest.builder().message_id(message_id).request_body(reaction).build()
        assert self.client.im.v1.message_reaction.create(request).success()

    def stream(self, chat_id: str) -> None:
        body = CreateCardRequestBody.builder().type("card_json").data(json.dumps(STREAMING)).build()
        answer = self.client.cardkit.v1.card.create(CreateCardRequest.builder().request_body(body).build())
        card_id = answer.data.card_id
        self.send(chat_id, "interactive", {"type": "card", "data": {"card_id": card_id}})
        for number, text in enumerate(("one", "one two", "one two three"), 1):
            part = ContentCardElementRequestBody.builder().content(text).sequence(number).build()
            builder = ContentCardElementRequest.builder().card_id(card_id).element_id("md_1")
            response = self.client.cardkit.v1.card_element.content(builder.request_body(part).build())
            assert response.success(), (response.code, response.msg)
        settings = json.dumps({"config": {"streaming_mode": False}})
        end = SettingsCardRequestBody.builder().settings(settings).sequence(9).build()
        request = SettingsCardRequest.builder().card_id(card_id).request_body(end).build()
        assert self.client.cardkit.v1.card.settings(request).success()

    def pressed(self, data: P2CardActionTrigger) -> P2CardActionTriggerResponse:
        self.send(data.event.context.open_chat_id, "text", {"text": f"pressed {data.event.action.value['answer']}"})
        return P2CardActionTriggerResponse({"toast": {"type": "success", "content": "done"}})


if sys.argv[1] == "verify":
    verify(*sys.argv[2:])
else:
    Bot(*sys.argv[1:]).connection.start()
