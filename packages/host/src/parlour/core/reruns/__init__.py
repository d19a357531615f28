"""Reruns of old events as dry runs, and the replay of recorded runs."""
