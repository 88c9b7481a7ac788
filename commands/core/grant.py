"""A grant: what a team or an automation may run, and where."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a team or an automation may run, and where. All are patterns with `*`."""

    commands: tuple[str, ...]
    clusters: tuple[str, ...] = ("*",)
    namespaces: tuple[str, ...] = ("*",)
    may_confirm_alone: tuple[str, ...] = ()  # commands whose plans need no second person
    groups: tuple[str, ...] = ()  # of the chat, which are mentioned when the team is asked
    channel: str = ""  # where the team reads what it is asked; empty: the default channel
