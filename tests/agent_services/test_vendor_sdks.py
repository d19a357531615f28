"""Tests that the unmodified SDKs of the vendors read our fakes, so that a fake is not only what our reader expects."""

import asyncio
from pathlib import Path

import pytest

from parlour_sdk.testing.services import FakeCoze, FakeDashScope, FakeService, FakeTbox

PYTHON = Path(__file__).parents[2] / ".tools/agent-services/vendors/bin/python"
SECONDS = 60

COZE = """
import sys
from cozepy import Coze, TokenAuth, Message, ChatEventType
coze = Coze(auth=TokenAuth("k"), base_url=sys.argv[1])
conversation, text = "", ""
for turn in range(2):
    for event in coze.chat.stream(
        bot_id="bot-1", user_id="u", additional_messages=[Message.build_user_question_text("hi")],
        conversation_id=conversation or None,
    ):
        if event.event == ChatEventType.CONVERSATION_MESSAGE_DELTA:
            text += event.message.content
        if event.event == ChatEventType.CONVERSATION_CHAT_COMPLETED:
            conversation, usage = event.chat.conversation_id, event.chat.usage
print(text, usage.input_count, coze.bots.retrieve(bot_id="bot-1").name)
"""

DASHSCOPE = """
import sys, dashscope
from dashscope import Application
dashscope.base_http_api_url = sys.argv[1]
text, session = "", None
for turn in range(2):
    for part in Application.call(
        app_id="app-1", api_key="k", prompt="hi", stream=True, incremental_output=True, session_id=session
    ):
        assert part.status_code == 200, part
        text += part.output.text or ""
        session = part.output.session_id
refused = Application.call(app_id="app-2", api_key="k", prompt="hi")
print(text, part.usage.models[0].input_tokens, refused.status_code)
"""

TBOX = """
import sys
from tboxsdk import tbox
from tboxsdk.core.httpclient import HttpClientConfig
client = tbox.TboxClient(HttpClientConfig(authorization="k", schema="http", host=sys.argv[1].removeprefix("http://")))
text, conversation = "", None
for turn in range(2):
    for data in client.chat(app_id="app-1", query="hi", user_id="u", conversation_id=conversation):
        if data["type"] == "chunk":
            text += data["payload"]["text"]
            conversation = data["payload"]["conversationId"]
print(text, client.get_conversations("app-1")["errorCode"])
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("fake", "script", "printed"),
    [
        (FakeCoze, COZE, "Hello thereHello there 12 Helper"),
        (FakeDashScope, DASHSCOPE, "Hello thereHello there 12 404"),
        (FakeTbox, TBOX, "Hello thereHello there 0"),
    ],
    ids=["cozepy", "dashscope", "tboxsdk"],
)
async def test_the_sdk_of_the_vendor_reads_the_fake(fake: type[FakeService], script: str, printed: str) -> None:
    async with fake() as service:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(PYTHON, "-c", script, service.url, stdout=pipe, stderr=pipe)
        async with asyncio.timeout(SECONDS):
            output, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
    assert output.decode().splitlines()[-1] == printed
