"""Names, addresses, numbers and limits of the iLink gateway."""

from parlour_sdk.protocol.people import User

NAME = "wechat"
SERVICE = "WeChat"
BASE_URL = "https://ilinkai.weixin.qq.com"
CDN_URL = "https://novac2c.cdn.weixin.qq.com/c2c"
CHANNEL_VERSION = "2.4.9"
CLIENT_VERSION = (2 << 16) | (4 << 8) | 9
BOT_AGENT = "Parlour/0.1"
BOT_TYPE = 3
USER_MESSAGE, BOT_MESSAGE = 1, 2
FINISHED = 2
TEXT, IMAGE, VOICE, FILE, VIDEO = 1, 2, 3, 4, 5
"""Types of the items of a message."""
ITEM_FIELDS = {TEXT: "text_item", IMAGE: "image_item", VOICE: "voice_item", FILE: "file_item", VIDEO: "video_item"}
WINDOW_REPLIES = 10
WINDOW_SECONDS = 24 * 3600
WINDOW_REASON = (
    "WeChat accepts about ten replies and only for a while after a user's message; the user must write to the bot again"
)
LOGIN_NEEDED = "token: log in with the QR code on the page of this bot"
LOGIN_EXPIRED = "WeChat ended the session of this account; log in again with the QR code on the page of this bot"
MAX_FILE_BYTES = 20 * 1024 * 1024


def user(user_id: str) -> User:
    return User(id=user_id)
