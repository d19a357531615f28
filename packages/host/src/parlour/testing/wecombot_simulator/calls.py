"""Calls the bot as WeCom does without a long connection: encrypted JSON, whose answers are encrypted too."""

import json
from collections.abc import Awaitable, Callable

from parlour.testing.errcode_simulator import CallbackCrypto, CallbackSecrets, CallSender, Json, SentCall

SECRETS = CallbackSecrets()


class BotCalls(CallSender):
    """The calls for one bot."""

    def __init__(self, notify: Callable[[], Awaitable[None]], on_answer: Callable[[Json, Json], None]) -> None:
        super().__init__(CallbackCrypto(SECRETS.token, SECRETS.encoding_aes_key, ""), notify)
        self._on_answer = on_answer

    def body(self, encrypted: str, content: str) -> str:
        return json.dumps({"encrypt": encrypted})

    def answered(self, sent: SentCall, answer: str) -> None:
        if found := self.read(answer):
            self._on_answer(json.loads(sent.content), found)

    def read(self, answer: str) -> Json:
        """Returns the content of an answer; empty for an empty one."""
        if not answer:
            return {}
        fields = json.loads(answer)
        assert fields.keys() == {"encrypt", "msgsignature", "timestamp", "nonce"}
        signature = self.crypto.signature(str(fields["timestamp"]), fields["nonce"], fields["encrypt"])
        assert signature == fields["msgsignature"], "the signature of the answer is wrong"
        found: Json = json.loads(self.crypto.decrypt(fields["encrypt"]))
        return found

    async def ask(self, body: Json) -> tuple[int, Json]:
        """Makes one call and returns status and content of its answer."""
        content = json.dumps(body)
        encrypted = self.crypto.encrypt(content)
        status, answer = await self.post(self.query(encrypted), self.body(encrypted, content))
        return status, self.read(answer) if status == 200 else {}
