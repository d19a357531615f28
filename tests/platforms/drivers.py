"""Lists the platforms of the shared adapter suite. A platform joins with a driver here, and with nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from parlour.testing.adapter_suite import PlatformDriver
from tests.platforms.dingtalk.driver import DingTalkDriver
from tests.platforms.discord.driver import DiscordDriver
from tests.platforms.email.driver import EmailDriver
from tests.platforms.irc.driver import IrcDriver
from tests.platforms.kook.driver import KookDriver
from tests.platforms.lark.driver import LarkDriver
from tests.platforms.line.driver import LineDriver
from tests.platforms.matrix.driver import MatrixDriver
from tests.platforms.mattermost.driver import MattermostDriver
from tests.platforms.officialaccount.driver import OfficialAccountDriver
from tests.platforms.onebot11.driver import ForwardOneBotDriver, OneBotDriver
from tests.platforms.qqofficial.driver import QQDriver
from tests.platforms.satori.driver import SatoriDriver
from tests.platforms.slack.driver import SlackDriver
from tests.platforms.telegram.driver import TelegramDriver
from tests.platforms.wechat.driver import WechatDriver
from tests.platforms.wecom.driver import WecomDriver
from tests.platforms.wecombot.driver import WecomBotDriver
from tests.platforms.wecomcs.driver import WecomCsDriver
from tests.platforms.whatsapp.driver import WhatsAppDriver


@dataclass(frozen=True)
class SuitePlatform:
    """The drivers of one platform: one for all rows, and one for each other mode, for the rows without a Host."""

    driver: type[PlatformDriver]
    other_modes: Mapping[str, type[PlatformDriver]] = field(default_factory=dict)
    server_fixture: str = ""
    """The fixture of the real server that the driver takes, if it has no simulator."""


PLATFORMS: Mapping[str, SuitePlatform] = {
    "dingtalk": SuitePlatform(DingTalkDriver),
    "discord": SuitePlatform(DiscordDriver),
    "email": SuitePlatform(EmailDriver),
    "irc": SuitePlatform(IrcDriver),
    "kook": SuitePlatform(KookDriver),
    "lark": SuitePlatform(LarkDriver),
    "line": SuitePlatform(LineDriver),
    "matrix": SuitePlatform(MatrixDriver, server_fixture="home"),
    "mattermost": SuitePlatform(MattermostDriver),
    "officialaccount": SuitePlatform(OfficialAccountDriver),
    "onebot11": SuitePlatform(OneBotDriver, {"forward": ForwardOneBotDriver}),
    "satori": SuitePlatform(SatoriDriver),
    "qqofficial": SuitePlatform(QQDriver),
    "slack": SuitePlatform(SlackDriver),
    "telegram": SuitePlatform(TelegramDriver),
    "wechat": SuitePlatform(WechatDriver),
    "wecom": SuitePlatform(WecomDriver),
    "wecombot": SuitePlatform(WecomBotDriver),
    "wecomcs": SuitePlatform(WecomCsDriver),
    "whatsapp": SuitePlatform(WhatsAppDriver),
}
