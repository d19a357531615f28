"""Repository of inbound webhooks. Their secrets are sealed."""

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Delete, Insert, Journal, Select, Statement, Unit, Update, where
from parlour.core.model.inbound_webhook import Webhook
from parlour.core.model.ports import Clock
from parlour.core.store.tables import WEBHOOKS


class WebhookRepository:
    """All inbound webhooks, cached in memory and written through."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._webhooks: dict[str, Webhook] = {}

    async def load(self) -> None:
        rows = await self._journal.read(Select(WEBHOOKS, order=("webhook_id",)))
        self._webhooks = {row["webhook_id"]: Webhook(**loads(row["definition"])) for row in rows}

    def all(self) -> list[Webhook]:
        return list(self._webhooks.values())

    def get(self, webhook_id: str) -> Webhook | None:
        return self._webhooks.get(webhook_id)

    async def add(self, webhook: Webhook, *also: Statement) -> None:
        now = self._clock.now()
        row: dict[str, str | int] = {"webhook_id": webhook.webhook_id, "definition": dumps(webhook.to_dict())}
        statement = Insert(WEBHOOKS, {**row, "created_at": now, "updated_at": now})
        await self._journal.commit(Unit("webhook.add", (statement, *also)))
        self._webhooks[webhook.webhook_id] = webhook

    async def replace(self, webhook: Webhook, *also: Statement) -> None:
        values: dict[str, str | int] = {"definition": dumps(webhook.to_dict()), "updated_at": self._clock.now()}
        statement = Update(WEBHOOKS, {**values}, where(webhook_id=webhook.webhook_id))
        await self._journal.commit(Unit("webhook.replace", (statement, *also)))
        self._webhooks[webhook.webhook_id] = webhook

    async def remove(self, webhook_id: str, *also: Statement) -> None:
        statement = Delete(WEBHOOKS, where(webhook_id=webhook_id))
        await self._journal.commit(Unit("webhook.remove", (statement, *also)))
        del self._webhooks[webhook_id]
