"""Repository of inbound webhooks. Their secrets are sealed."""

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Journal
from parlour.core.model.ids import InboundWebhookId
from parlour.core.model.inbound_webhook import Webhook
from parlour.core.model.ports import Clock
from parlour.core.store.tables import WEBHOOKS

from .cached_repository import CachedRepository, RowMapping, UnitNames

WEBHOOK_ROWS = RowMapping[InboundWebhookId, Webhook](
    WEBHOOKS,
    UnitNames(add="webhook.add", replace="webhook.replace", remove="webhook.remove"),
    item_id=lambda webhook: webhook.webhook_id,
    encode=lambda webhook: {"definition": dumps(webhook.to_dict())},
    decode=lambda row: Webhook(**loads(row["definition"])),
)


class WebhookRepository(CachedRepository[InboundWebhookId, Webhook]):
    """All inbound webhooks."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        super().__init__(journal, clock, WEBHOOK_ROWS)
