"""Information about the Host for plugins."""

from parlour.core.actions.host import HostInfoActions
from parlour.core.runs.caller import ActionCaller
from parlour_sdk.protocol.base import PROTOCOL_VERSION
from parlour_sdk.protocol.host import HostVersionGet


async def test_run_receives_the_version_and_protocol_of_the_host(caller: ActionCaller) -> None:
    answer = await HostInfoActions("9.9").version(caller, HostVersionGet(run_id="run", call_id="run:1"))
    assert (answer.version, answer.protocol) == ("9.9", PROTOCOL_VERSION)
