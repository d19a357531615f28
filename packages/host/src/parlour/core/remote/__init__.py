"""Runs that remote runtimes execute: the queue, leases and registered workers."""
