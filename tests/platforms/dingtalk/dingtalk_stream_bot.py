"""Runs dingtalk-stream in its own environment as a robot that repeats texts and shows an AI card."""

import asyncio
import logging
import sys

import dingtalk_stream  # type: ignore[import-not-found]


class Repeat(dingtalk_stream.ChatbotHandler):  # type: ignore[misc]
    async def process(self, callback: dingtalk_stream.CallbackMessage) -> tuple[int, str]:
        message = dingtalk_stream.ChatbotMessage.from_dict(callback.data)
        text = message.text.content.strip()
        if text == "card":
            replier = dingtalk_stream.AICardReplier(self.dingtalk_client, message)
            card = await replier.async_create_and_deliver_card("template.schema", {"content": ""})
            for shown, is_final in (("gro", False), ("grown", True)):
                await replier.async_streaming(card, "content", shown, False, is_final, False)
        else:
            await asyncio.to_thread(self.reply_text, text, message)
        return dingtalk_stream.AckMessage.STATUS_OK, "OK"


def main(client_id: str, secret: str) -> None:
    logging.basicConfig(level=logging.ERROR)
    client = dingtalk_stream.DingTalkStreamClient(dingtalk_stream.Credential(client_id, secret))
    client.register_callback_handler(dingtalk_stream.ChatbotMessage.TOPIC, Repeat())
    client.start_forever()


main(*sys.argv[1:])
