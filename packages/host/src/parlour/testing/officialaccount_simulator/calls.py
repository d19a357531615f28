"""Calls the address of an official account, plain or encrypted, and reads the passive replies."""

from collections.abc import Awaitable, Callable
from typing import Literal
from xml.etree import ElementTree

from parlour.testing.errcode_simulator import CallbackCrypto, CallSender, SentCall, xml_of

CallMode = Literal["plain", "compatible", "safe"]


class OfficialCallSender(CallSender):
    """Makes the calls for one account. `on_reply` gets each passive reply, decrypted."""

    def __init__(
        self,
        crypto: CallbackCrypto,
        notify: Callable[[], Awaitable[None]],
        on_reply: Callable[[SentCall, str], None],
    ) -> None:
        super().__init__(crypto, notify)
        self.mode: CallMode = "safe"
        self._on_reply = on_reply

    def query(self, encrypted: str, **more: str) -> dict[str, str]:
        query = super().query(encrypted, **more)
        query["signature"] = self.crypto.signature(query["timestamp"], query["nonce"])
        if self.mode == "plain":
            del query["msg_signature"]
            return query
        return query | {"encrypt_type": "aes"}

    def body(self, encrypted: str, content: str) -> str:
        if self.mode == "plain":
            return content
        if self.mode == "safe":
            return xml_of({"ToUserName": "gh_848b8d1809b5", "Encrypt": encrypted})
        return content.replace("</xml>", f"<Encrypt>{encrypted}</Encrypt></xml>")

    async def verify(self, echo: str = "1616140317555161061") -> tuple[int, str]:
        query = super().query("")
        query = {"timestamp": query["timestamp"], "nonce": query["nonce"], "echostr": echo}
        return await self.get({**query, "signature": self.crypto.signature(query["timestamp"], query["nonce"])})

    def answered(self, sent: SentCall, answer: str) -> None:
        if answer not in ("", "success"):
            self._on_reply(sent, answer if self.mode == "plain" else self._decrypt(answer))

    def _decrypt(self, answer: str) -> str:
        fields = {child.tag: child.text or "" for child in ElementTree.fromstring(answer)}
        signature = self.crypto.signature(fields["TimeStamp"], fields["Nonce"], fields["Encrypt"])
        assert signature == fields["MsgSignature"], "the signature of the reply is wrong"
        return self.crypto.decrypt(fields["Encrypt"])
