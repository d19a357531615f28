"""What an author's commands run inside a plugin's own environment, where nothing of Parlour is but the SDK."""
