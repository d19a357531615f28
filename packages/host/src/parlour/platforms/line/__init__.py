"""LINE: official accounts, over webhooks and the Messaging API."""
