"""Apprise: cards as messages of whatever apprise knows, such as mail, DingTalk, Feishu, WeCom, Teams and Telegram."""
