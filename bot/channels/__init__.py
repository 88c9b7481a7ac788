"""The channels that people read and write in: Slack, and the console where there is no chat."""
