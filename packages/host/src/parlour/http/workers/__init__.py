"""Worker processes on other machines: their connections, and what operators see of them."""
