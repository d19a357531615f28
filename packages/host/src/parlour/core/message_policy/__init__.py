"""Message policies: when an agent answers, how often, and what is filtered on the way in and out."""
