"""Wire formats of moderation services, by the dialect of their kind."""
