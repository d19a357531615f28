"""Stores the bytes of artifacts: in a folder, or in S3-compatible storage."""
