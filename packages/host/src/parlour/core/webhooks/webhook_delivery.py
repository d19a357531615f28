"""A pending delivery of one event to the webhook of a route, as the payload of a job."""

from typing import Any

from parlour.core.jobs.job import Job
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """A pending delivery of one event to the webhook of a route."""

    call_id: str
    """Id of the job; the receiver recognizes a repeated call by it."""
    bot: dict[str, str]
    """Id, name and adapter of the bot at the time of the event."""
    config: dict[str, Any]
    """Configuration of the route at the time of the event; secrets are sealed."""

    @classmethod
    def from_job(cls, job: Job) -> "WebhookDelivery":
        return cls(job.job_id, job.payload["bot"], job.payload["config"])

    def to_payload(self) -> dict[str, Any]:
        return {"bot": self.bot, "config": self.config}
