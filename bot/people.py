"""This file knows people: who a chat id is, which teams they are in, whether they are a guest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from bot.settings.schema import TeamSettings
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from commands.core.request import Actor

TRUST_FOR = timedelta(minutes=5)  # how long what the chat said of a person or a group is believed


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A person as the chat shows them. `is_outsider`: a guest, a bot, deactivated, or of another workspace."""

    id: str
    name: str
    is_outsider: bool = False


class Directory(Protocol):
    """The chat's own list of people and groups. Raises SourceError."""

    async def account(self, id: str) -> Account: ...

    async def members(self, group: str) -> Sequence[str]: ...


@dataclass(slots=True)
class _Known:
    accounts: dict[str, tuple[datetime, Account]] = field(default_factory=dict)
    groups: dict[str, tuple[datetime, frozenset[str]]] = field(default_factory=dict)


class People:
    """Gives the actor behind a chat id. Who cannot be looked up is treated as an outsider: closed by default."""

    def __init__(self, directory: Directory, teams: Mapping[str, TeamSettings], clock: Clock) -> None:
        self._directory = directory
        self._teams = teams
        self._clock = clock
        self._known = _Known()

    async def actor(self, id: str, *, workspace: str = "") -> Actor:
        """The actor with their teams as of now."""
        try:
            account = await self._account(id)
        except SourceError:
            return Actor(id=id, name=id, is_guest=True)
        if account.is_outsider:
            return Actor(id=id, name=account.name, is_guest=True)
        teams = frozenset([name for name, team in self._teams.items() if await self._is_in(id, team)])
        return Actor(id=id, name=account.name, teams=teams)

    async def _account(self, id: str) -> Account:
        now = self._clock.now()
        known = self._known.accounts.get(id)
        if known is None or now - known[0] >= TRUST_FOR:
            known = (now, await self._directory.account(id))
            self._known.accounts[id] = known
        return known[1]

    async def _is_in(self, id: str, team: TeamSettings) -> bool:
        if id in team.members:
            return True
        for group in team.slack_groups:
            if id in await self._members(group):
                return True
        return False

    async def _members(self, group: str) -> frozenset[str]:
        """The group's members; nobody, when the chat cannot say."""
        now = self._clock.now()
        known = self._known.groups.get(group)
        if known is None or now - known[0] >= TRUST_FOR:
            try:
                known = (now, frozenset(await self._directory.members(group)))
            except SourceError:
                return frozenset()
            self._known.groups[group] = known
        return known[1]
