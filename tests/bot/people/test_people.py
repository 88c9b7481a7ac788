"""This file asks who somebody is: closed whenever the chat does not say, and asked again when trust has run out."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.people import TRUST_FOR, Account, People
from bot.settings.schema import TeamSettings
from collectors.facts.results import SourceError


@dataclass
class Chat:
    """A directory whose answers a test sets; None: it does not answer."""

    accounts: dict[str, Account | None] = field(default_factory=dict)
    groups: dict[str, list[str] | None] = field(default_factory=dict)
    asked: int = 0

    async def account(self, id: str) -> Account:
        self.asked += 1
        found = self.accounts.get(id)
        if found is None:
            raise SourceError("no answer")
        return found

    async def members(self, group: str) -> list[str]:
        found = self.groups.get(group)
        if found is None:
            raise SourceError("no answer")
        return found


@dataclass
class Hands:
    at: datetime = datetime(2026, 11, 21, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


TEAMS = {
    "sre": TeamSettings(slack_groups=("S_SRE",), commands=("*",)),
    "named": TeamSettings(members=("U_ANA",), commands=("node *",)),
}


async def test_a_person_is_in_the_teams_of_their_groups_and_of_their_name() -> None:
    chat = Chat({"U_ANA": Account(id="U_ANA", name="ana")}, {"S_SRE": ["U_ANA"]})
    actor = await People(chat, TEAMS, Hands()).actor("U_ANA")
    assert (actor.name, set(actor.teams), actor.is_guest) == ("ana", {"sre", "named"}, False)


async def test_an_outsider_is_in_no_team_even_when_a_group_names_them() -> None:
    chat = Chat({"U_ANA": Account(id="U_ANA", name="ana", is_outsider=True)}, {"S_SRE": ["U_ANA"]})
    actor = await People(chat, TEAMS, Hands()).actor("U_ANA")
    assert actor.is_guest
    assert not actor.teams


async def test_who_cannot_be_looked_up_is_an_outsider_and_is_asked_for_again_at_once() -> None:
    chat = Chat({}, {"S_SRE": ["U_ANA"]})
    people = People(chat, TEAMS, Hands())
    assert (await people.actor("U_ANA")).is_guest
    chat.accounts["U_ANA"] = Account(id="U_ANA", name="ana")
    assert not (await people.actor("U_ANA")).is_guest


async def test_a_group_that_cannot_be_looked_up_has_nobody_in_it() -> None:
    chat = Chat({"U_BO": Account(id="U_BO", name="bo")}, {})
    assert not (await People(chat, TEAMS, Hands()).actor("U_BO")).teams


async def test_what_was_said_is_believed_for_a_while_and_then_asked_again() -> None:
    chat = Chat({"U_BO": Account(id="U_BO", name="bo")}, {"S_SRE": ["U_BO"]})
    hands = Hands()
    people = People(chat, TEAMS, hands)
    assert (await people.actor("U_BO")).teams == {"sre"}
    chat.groups["S_SRE"] = []
    hands.at += TRUST_FOR - timedelta(seconds=1)
    assert (await people.actor("U_BO")).teams == {"sre"}
    assert chat.asked == 1
    hands.at += timedelta(seconds=1)
    assert not (await people.actor("U_BO")).teams
    assert chat.asked == 2
