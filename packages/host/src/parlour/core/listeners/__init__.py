"""Plugins that listen to events outside of runs: who wants which, how they are told, and what is made up for later."""
