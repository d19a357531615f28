"""The private memory of agents: what they remember about people and chats, with consent, limits and deletion."""
