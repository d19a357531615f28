"""Lists everything that an adapter can declare: the common events, the platform API and the components of a chain."""

import typing
from typing import Final

from parlour.core.platforms.api import PlatformApi
from parlour_sdk.protocol.chain import Component
from parlour_sdk.protocol.platform_events import EVENTS as ALL_EVENTS
from parlour_sdk.protocol.platform_events import HostEvent

NOT_FOR_PLUGINS = ("find_message", "send_reply", "streams")
COMPOSED = {"reply_message": "send_message"}
"""Calls that the Host derives from another one: an adapter supports both or neither."""

EVENTS: Final = tuple(name for name, entity in ALL_EVENTS.items() if not issubclass(entity, HostEvent))
APIS: Final = (
    *(name for name in vars(PlatformApi) if not name.startswith("_") and name not in NOT_FOR_PLUGINS),
    *COMPOSED,
)
COMPONENTS: Final = tuple(entity.__name__ for entity in typing.get_args(typing.get_args(Component)[0]))


def implemented(api: type[PlatformApi]) -> set[str]:
    """Returns the methods that this class defines itself."""
    overridden = {
        name for name in APIS if name in vars(PlatformApi) and getattr(api, name) is not getattr(PlatformApi, name)
    }
    return overridden | {name for name, required in COMPOSED.items() if required in overridden}
