"""The adapter for mailboxes: IMAP in, SMTP out."""
