"""Tests plugins that attack: a real Host, real processes, a real sandbox, and a plugin that does
all the harm it can.
"""
