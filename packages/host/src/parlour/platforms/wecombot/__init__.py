"""AI bots of WeCom, over a long connection."""
