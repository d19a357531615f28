"""OneBot 11: how QQ is reached through NapCat, Lagrange and others, over a WebSocket in either direction."""
