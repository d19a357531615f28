"""Runs that remote workers execute: the queue, leases and registered workers."""
