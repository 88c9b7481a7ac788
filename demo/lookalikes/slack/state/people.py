"""People, channels and user groups of the workspace, by id or by name."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

HOME = "T0YARD00000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A user of the workspace. `bot` marks the app's own user."""

    name: str
    id: str = ""
    real_name: str = ""
    email: str = ""
    #: What they do, as in a profile: `sre, on call`.
    title: str = ""
    #: IANA time zone.
    zone: str = "Asia/Shanghai"
    #: A single- or multi-channel guest.
    guest: bool = False
    #: The person's workspace; any other than ours makes a stranger (Slack Connect).
    team: str = HOME
    deactivated: bool = False
    bot: bool = False

    @property
    def stranger(self) -> bool:
        return self.team != HOME

    def wire(self) -> dict[str, Any]:
        """The `user` object of `users.info`."""
        shown = self.real_name or self.name.capitalize()
        return {
            "id": self.id,
            "team_id": self.team,
            "name": self.name,
            "deleted": self.deactivated,
            "real_name": shown,
            "tz": self.zone,
            "profile": {
                "real_name": shown,
                "display_name": self.name,
                "email": self.email,
                "title": self.title,
                "team": self.team,
            },
            "is_admin": False,
            "is_owner": False,
            "is_restricted": self.guest,
            "is_ultra_restricted": self.guest,
            "is_stranger": self.stranger,
            "is_bot": self.bot,
            "is_app_user": False,
        }


@dataclass(slots=True, kw_only=True)
class Channel:
    """A channel or a direct message, with its current members."""

    name: str
    id: str
    members: set[str] = field(default_factory=set)
    archived: bool = False
    private: bool = False
    #: The person in a direct message with the bot.
    direct_with: str | None = None
    topic: str = ""

    def wire(self, bot: str) -> dict[str, Any]:
        """The `channel` object of `conversations.info`."""
        if self.direct_with:
            return {
                "id": self.id,
                "is_im": True,
                "user": self.direct_with,
                "is_archived": False,
                "is_open": True,
            }
        return {
            "id": self.id,
            "name": self.name,
            "name_normalized": self.name,
            "is_channel": not self.private,
            "is_group": self.private,
            "is_im": False,
            "is_mpim": False,
            "is_private": self.private,
            "is_archived": self.archived,
            "is_member": bot in self.members,
            "num_members": len(self.members),
            "topic": {"value": self.topic, "creator": "", "last_set": 0},
            "context_team_id": HOME,
        }


@dataclass(slots=True, kw_only=True)
class UserGroup:
    """A group of people with a handle, such as @sre."""

    handle: str
    id: str
    members: list[str] = field(default_factory=list)

    def wire(self, *, with_users: bool) -> dict[str, Any]:
        """The `usergroup` object of `usergroups.list`."""
        found: dict[str, Any] = {
            "id": self.id,
            "team_id": HOME,
            "is_usergroup": True,
            "name": self.handle,
            "handle": self.handle,
            "description": "",
            "user_count": len(self.members),
            "date_delete": 0,
        }
        return {**found, "users": list(self.members)} if with_users else found


class Directory:
    """All people, channels and groups. Names may be given with their `#` or `@`."""

    def __init__(self) -> None:
        self.people: dict[str, Person] = {}
        self.channels: dict[str, Channel] = {}
        self.groups: dict[str, UserGroup] = {}

    def add_person(self, person: Person | str) -> Person:
        """Add a person; ids are derived from names (`ana` is U0ANA00000)."""
        given = Person(name=person) if isinstance(person, str) else person
        ident = given.id or identity("U", given.name, self.people)
        mail = given.email or f"{given.name}@yard.example"
        added = Person(
            **{name: getattr(given, name) for name in Person.__slots__} | {"id": ident, "email": mail}
        )
        self.people[ident] = added
        return added

    def add_channel(
        self, name: str, members: Iterable[str], *, private: bool = False, topic: str = ""
    ) -> Channel:
        """Create a channel (`#gpu-alerts` is C0GPUALERTS)."""
        bare = name.lstrip("#")
        channel = Channel(
            name=bare,
            id=identity("C", bare, self.channels),
            members=set(members),
            private=private,
            topic=topic,
        )
        self.channels[channel.id] = channel
        return channel

    def add_direct(self, person: str, bot: str) -> Channel:
        """Return the direct message between a person and the bot, created when missing."""
        for channel in self.channels.values():
            if channel.direct_with == person:
                return channel
        name = self.people[person].name
        channel = Channel(
            name=name, id=identity("D", name, self.channels), members={person, bot}, direct_with=person
        )
        self.channels[channel.id] = channel
        return channel

    def add_groups(self, groups: Mapping[str, Iterable[str]]) -> None:
        """Create user groups from handles and names of people."""
        for handle, names in groups.items():
            ident = identity("S", handle, self.groups)
            members = [self.person(name).id for name in names]
            self.groups[ident] = UserGroup(handle=handle, id=ident, members=members)

    def person(self, who: str) -> Person:
        """Return the person with this id or name; raise LookupError when there is none."""
        bare = who.lstrip("@")
        for person in self.people.values():
            if bare in (person.id, person.name):
                return person
        raise LookupError(f"no person {who!r}; the people are {sorted(p.name for p in self.people.values())}")

    def channel(self, where: str) -> Channel:
        """Return the channel with this id or name; `@ana` is the bot's direct message with ana.

        Raise LookupError when there is none.
        """
        bare = where.lstrip("#@")
        for channel in self.channels.values():
            direct = channel.direct_with is not None
            if bare == channel.id or (bare == channel.name and where.startswith("@") == direct):
                return channel
        known = sorted(f"#{c.name}" for c in self.channels.values() if not c.direct_with)
        raise LookupError(f"no channel {where!r}; the channels are {known}")


def identity(letter: str, name: str, taken: Mapping[str, object]) -> str:
    """Return a readable id in Slack's format; a number is appended when it is taken."""
    base = f"{letter}0{re.sub(r'[^A-Z0-9]', '', name.upper())}"
    ident = f"{base:0<10}"
    number = 1
    while ident in taken:
        number += 1
        ident = f"{base:0<10}{number}"
    return ident
