"""Where artifacts' bytes are kept: in a folder, or in S3-compatible storage."""
