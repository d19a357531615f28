"""Official bots of QQ: private chats, groups, and channels of guilds."""
