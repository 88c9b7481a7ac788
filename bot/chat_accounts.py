"""People: the account, teams and guest status behind a chat id."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, Protocol, TypeVar

import structlog

from alerts.cards.channel_id import kind_and_name
from bot.person_book import PersonBook
from bot.settings.people_settings import TeamSettings
from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from commands.core.command import UnusableError
from commands.core.request import Actor, ActorKind

TRUST_FOR = timedelta(minutes=5)  # how long an account or a group's members are cached
RETRY_AFTER = timedelta(seconds=1)  # before the one retry of a lookup that may succeed

T = TypeVar("T")
Groups = Mapping[str, Collection[str]]  # ids of people, by the id of their group
_EVERY_GROUP = ""
_log = structlog.get_logger()


class UnknownPersonError(UnusableError):
    """This person cannot be looked up now. `is_outsider`: that is what they were when they last could be."""

    def __init__(self, *, is_outsider: bool = False) -> None:
        super().__init__(
            sentence(
                "Yardmaster cannot check who you are right now. Nothing was done: try again in a minute."
            )
        )
        self.is_outsider = is_outsider


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A person's account in the chat. `is_outsider`: a guest, a bot, deactivated, or of another workspace."""

    id: str
    name: str
    is_outsider: bool = False


class Directory(Protocol):
    """The chat's directory of people and groups. Raises SourceError."""

    async def account(self, id: str) -> Account: ...

    async def groups(self) -> Groups:
        """Return the members of every user group, by its id: one call, as chats limit how many are made."""
        ...


class People:
    """Finds the actor behind a chat id. Closed by default: people whose lookup fails have no rights."""

    def __init__(
        self, directory: Directory, teams: Mapping[str, TeamSettings], persons: PersonBook, *, chat: str
    ) -> None:
        self._teams = teams
        self._persons = persons
        self._chat = chat
        self._accounts = _Lookups(directory.account)
        self._groups = _Lookups(lambda _: directory.groups())

    async def actor(self, id: str, *, is_fresh: bool = False) -> Actor:
        """Return the actor with their teams, at most TRUST_FOR old, or looked up now. Raises UnknownPersonError."""
        known = self._accounts.last(id)
        try:
            account = await self._accounts.find(id, is_fresh=is_fresh)
        except SourceError as error:
            _log.warning("user lookup failed", user=id, error=str(error))
            raise UnknownPersonError(is_outsider=known is not None and known.is_outsider) from error
        if account.is_outsider:
            return self._identified(Actor(id=id, name=account.name, is_guest=True))
        teams = await self._teams_of(id, is_fresh=is_fresh)
        return self._identified(Actor(id=id, name=account.name, teams=teams))

    def _identified(self, actor: Actor) -> Actor:
        return self._persons.identified(actor, self._chat)

    async def members(self, team: str) -> Sequence[str]:
        """Return the ids of a team's people; those of a group that cannot be looked up now are left out."""
        if team not in self._teams:
            return ()
        found = [own_id(one) for one in self._teams[team].members]
        if self._teams[team].slack_groups:
            try:
                groups = await self._groups.find(_EVERY_GROUP, is_fresh=False)
            except SourceError as error:
                _log.warning("user group lookup failed", team=team, error=str(error))
            else:
                found += [id for group in self._teams[team].slack_groups for id in groups.get(group, ())]
        return tuple(dict.fromkeys(found))

    async def current(self, actor: Actor) -> Actor:
        """Return the actor with their teams of this moment. Raises UnknownPersonError."""
        return await self.actor(actor.id, is_fresh=True) if actor.kind is ActorKind.PERSON else actor

    async def _teams_of(self, id: str, *, is_fresh: bool) -> frozenset[str]:
        """Return the teams that name this person, and those whose groups have them. Raises UnknownPersonError."""
        teams = {name for name, team in self._teams.items() if id in map(own_id, team.members)}
        others = {name: team.slack_groups for name, team in self._teams.items() if name not in teams}
        if any(others.values()):
            groups = await self._found_groups(is_fresh=is_fresh)
            teams |= {
                name for name, of_it in others.items() if any(id in groups.get(one, ()) for one in of_it)
            }
        return frozenset(teams)

    async def _found_groups(self, *, is_fresh: bool) -> Groups:
        try:
            return await self._groups.find(_EVERY_GROUP, is_fresh=is_fresh)
        except SourceError as error:
            _log.warning("user group lookup failed", error=str(error))
            if error.temporary:
                raise UnknownPersonError from error
            return {}  # such as a chat without groups: nobody is in one


def own_id(id: str) -> str:
    """Return a person's id as their chat says it."""
    return kind_and_name(id)[1]


class _Lookups(Generic[T]):
    """Lookups with their last results, which are trusted for a while, by the monotonic clock."""

    def __init__(self, look: Callable[[str], Awaitable[T]]) -> None:
        self._look = look
        self._found: dict[str, tuple[float, T]] = {}  # loop time

    def last(self, id: str) -> T | None:
        """Return the last result, however old."""
        return self._found[id][1] if id in self._found else None

    async def find(self, id: str, *, is_fresh: bool) -> T:
        """Return a result that is trusted, or look again, twice if need be. Raises SourceError."""
        now = asyncio.get_running_loop().time()
        if not is_fresh and id in self._found and now - self._found[id][0] < TRUST_FOR.total_seconds():
            return self._found[id][1]
        try:
            found = await self._look(id)
        except SourceError as error:
            if not error.temporary:
                raise
            await asyncio.sleep(RETRY_AFTER.total_seconds())
            found = await self._look(id)
        self._found[id] = now, found
        return found
