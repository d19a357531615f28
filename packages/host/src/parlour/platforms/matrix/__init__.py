"""Matrix, through the client API of any homeserver."""
