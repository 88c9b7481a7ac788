"""The ids by which rows name automations."""

from alerts.cards.channel_id import channel_id, kind_and_name

AUTOMATION_KIND = "automation"


def automation_id(name: str) -> str:
    """Return how rows name an automation."""
    return channel_id(AUTOMATION_KIND, name)


def is_automation(id: str) -> bool:
    """Whether rows name an automation by this id."""
    return kind_and_name(id)[0] == AUTOMATION_KIND
