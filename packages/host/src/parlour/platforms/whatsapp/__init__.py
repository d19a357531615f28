"""WhatsApp: business numbers, over webhooks and the Cloud API."""
