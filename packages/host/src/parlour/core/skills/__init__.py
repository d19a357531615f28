"""Skills: their packages, how they are installed and changed, and which are active in a conversation."""
