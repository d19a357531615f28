"""Reads files of many formats. The readers run in a process of their own, which the Host bounds in time and memory."""
