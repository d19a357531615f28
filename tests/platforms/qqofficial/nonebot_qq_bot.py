"""Runs nonebot-adapter-qq in its own environment as a bot that repeats texts."""

import json
import sys

import nonebot  # type: ignore[import-not-found]
from nonebot.adapters import Bot, Event  # type: ignore[import-not-found]
from nonebot.adapters.qq import Adapter  # type: ignore[import-not-found]


def main(url: str, app_id: str, secret: str) -> None:
    bot = {
        "id": app_id,
        "token": "",
        "secret": secret,
        "intent": {"c2c_group_at_messages": True},
        "use_websocket": True,
    }
    nonebot.init(
        driver="~httpx+~websockets",
        log_level="ERROR",
        qq_api_base=f"{url}/",
        qq_auth_base=f"{url}/app/getAppAccessToken",
        qq_bots=json.loads(json.dumps([bot])),
    )
    nonebot.get_driver().register_adapter(Adapter)
    repeat = nonebot.on_message()

    @repeat.handle()  # type: ignore[untyped-decorator]
    async def _(bot: Bot, event: Event) -> None:
        await bot.send(event, event.get_plaintext().strip())

    nonebot.run()


main(*sys.argv[1:])
