"""HTTP clients for webhooks and links, with a guard against private addresses."""
