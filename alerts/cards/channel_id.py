"""Channel ids: a kind of channel and that kind's own id, such as `slack:C0123456` or `webhook:night`."""


def channel_id(kind: str, name: str) -> str:
    """Return the id of a channel; empty without a name, for no channel."""
    return f"{kind}:{name}" if name else ""


def kind_and_name(channel: str) -> tuple[str, str]:
    """Return a channel's kind and its own id within the kind. Without a colon there is no kind."""
    kind, colon, name = channel.partition(":")
    return (kind, name) if colon else ("", channel)
