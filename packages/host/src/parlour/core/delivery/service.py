"""The parts of delivery that runs, commands, approvals, hooks and webhooks use, as one dependency."""

from parlour.core.message_policy.filtered import FilteredMessages
from parlour.core.message_policy.outputs import OutputPolicies
from parlour_sdk.values import dataclass

from .composer import MessageComposer
from .feed import Feed
from .publisher import DeliveryPublisher
from .reply_hooks import ReplyHooks
from .streaming.stream_publisher import StreamPublisher


@dataclass(frozen=True, slots=True)
class DeliveryService:
    """Groups the parts for callers that compose, stream and publish messages, within a run or without one."""

    composer: MessageComposer
    """Turns messages into rows, before the commit."""
    streaming: StreamPublisher
    """Shows messages while they are being written."""
    publisher: DeliveryPublisher
    """Publishes or enqueues rows after the commit."""
    feed: Feed
    output_policies: OutputPolicies
    """Applies message policies to replies."""
    reply_hooks: ReplyHooks
    """Asks plugins about replies before they are filtered."""
    filtered: FilteredMessages
    """Tells plugins about replies that were filtered."""
