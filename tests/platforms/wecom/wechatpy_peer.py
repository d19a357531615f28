"""Uses wechatpy, unmodified, as users of that library do: its encryption, its parser of messages, and its client.

Each line of the input is a request in JSON, each line of the output its answer.
"""

import json
import sys

from wechatpy import parse_message as parse_official
from wechatpy.crypto import WeChatCrypto as OfficialCrypto
from wechatpy.enterprise import WeChatClient as CompanyClient
from wechatpy.enterprise import parse_message as parse_company
from wechatpy.enterprise.crypto import WeChatCrypto as CompanyCrypto
from wechatpy.exceptions import WeChatException
from wechatpy.replies import TextReply, deserialize_reply


def crypto(request):
    if request["kind"] == "company":
        return CompanyCrypto(request["token"], request["key"], request["receiver"])
    return OfficialCrypto(request["token"], request["key"], request["receiver"])


def encrypt(request):
    return {"xml": crypto(request).encrypt_message(request["content"], request["nonce"], request["timestamp"])}


def decrypt(request):
    content = crypto(request).decrypt_message(
        request["xml"], request["signature"], request["timestamp"], request["nonce"]
    )
    parse = parse_company if request["kind"] == "company" else parse_official
    message = parse(content)
    return {
        "type": message.type,
        "id": str(message.id),
        "text": getattr(message, "content", ""),
        "source": message.source,
    }


def read(request):
    content = crypto(request).decrypt_message(
        request["xml"], request["signature"], request["timestamp"], request["nonce"]
    )
    return {"content": content.decode() if isinstance(content, bytes) else content}


def echo(request):
    found = crypto(request).check_signature(
        request["signature"], request["timestamp"], request["nonce"], request["echostr"]
    )
    return {"echo": found.decode() if isinstance(found, bytes) else found}


def reply(request):
    rendered = TextReply(content=request["content"], source=request["source"], target=request["target"]).render()
    return encrypt({**request, "content": rendered})


def read_reply(request):
    content = crypto(request).decrypt_message(
        request["xml"], request["signature"], request["timestamp"], request["nonce"]
    )
    found = deserialize_reply(content)
    text = found.content if found.type == "text" else found.image
    return {"type": found.type, "source": found.source, "target": found.target, "text": text}


def send(request):
    CompanyClient.API_BASE_URL = request["address"] + "/"
    client = CompanyClient(request["corp"], request["secret"], access_token=request["access_token"])
    sent = client.message.send_text(request["agent"], request["user"], request["content"])
    media = client.media.upload("file", ("a.txt", b"some content"))
    client.message.send_file(request["agent"], request["user"], media["media_id"])
    return {"sent": sent, "user": client.user.get(request["user"])}


CALLS = {
    "encrypt": encrypt,
    "decrypt": decrypt,
    "read": read,
    "echo": echo,
    "reply": reply,
    "read_reply": read_reply,
    "send": send,
}

for line in sys.stdin:
    wanted = json.loads(line)
    try:
        answer = CALLS[wanted["call"]](wanted)
    except WeChatException as error:
        answer = {"error": error.errcode}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
