"""The common ground of the simulated WeCom and WeChat: encryption, calls with repetitions, tokens and media."""

from .callbacks import CallbackSecrets, CallSender, SentCall
from .crypto import CallbackCrypto, xml_of
from .server import ErrcodeFaults, ErrcodeRefusal, ErrcodeSimulator, Json

__all__ = [
    "CallSender",
    "CallbackCrypto",
    "CallbackSecrets",
    "ErrcodeFaults",
    "ErrcodeRefusal",
    "ErrcodeSimulator",
    "Json",
    "SentCall",
    "xml_of",
]
