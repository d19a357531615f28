"""Holds the accounts that stay for all tests of the adapter alone."""

from typing import Any

from parlour.testing.synapse_server import SynapseServer

API = "/_matrix/client/v3"


class Home:
    """Holds a bot, and Ann in a room with it. Both stay for all tests, because messages before a
    test's start do not count.
    """

    def __init__(self, synapse: SynapseServer) -> None:
        self.synapse = synapse
        self.bot = synapse.register("parlour", "Bot")  # the account for which the samples were recorded
        self.ann = synapse.register("ann", "Ann")
        self.bob = synapse.register("bob", "Bob")
        self.room_id = self.room()

    def room(self, **wishes: Any) -> str:
        """Creates a room of Ann's that the bot has joined."""
        made = self.synapse.call("POST", f"{API}/createRoom", {"invite": [self.bot.user_id], **wishes}, self.ann)
        self.synapse.call("POST", f"{API}/rooms/{made['room_id']}/join", {}, self.bot)
        return str(made["room_id"])
