"""People and their teams: no rights unless the chat answers, and a new lookup when the cached one expires."""

import asyncio
from dataclasses import dataclass, field

import pytest

from bot.chat_accounts import TRUST_FOR, Account, People, UnknownPersonError
from bot.person_book import PersonBook
from bot.settings.people_settings import TeamSettings
from collectors.facts.results import SourceError


@dataclass
class Chat:
    """A directory with the answers that a test sets; None means no answer."""

    accounts: dict[str, Account | None] = field(default_factory=dict)
    members: dict[str, list[str]] | None = field(default_factory=dict)  # by group
    lookups: int = 0
    failures: int = 0  # how many lookups get no answer
    permanent: bool = False

    async def account(self, id: str) -> Account:
        self._count()
        account = self.accounts.get(id)
        if account is None:
            raise SourceError("no answer")
        return account

    async def groups(self) -> dict[str, list[str]]:
        self._count()
        if self.members is None:
            raise SourceError("no answer", temporary=not self.permanent)
        return self.members

    def _count(self) -> None:
        self.lookups += 1
        if self.failures:
            self.failures -= 1
            raise SourceError("no answer")


pytestmark = pytest.mark.looptime

TEAMS = {
    "sre": TeamSettings(slack_groups=("S_SRE",), commands=("*",)),
    "named": TeamSettings(members=("U_ANA",), commands=("node *",)),
}


async def test_a_person_is_in_the_teams_of_their_groups_and_of_their_id() -> None:
    chat = Chat({"U_ANA": Account(id="U_ANA", name="ana")}, {"S_SRE": ["U_ANA"]})
    actor = await People(chat, TEAMS, PersonBook(), chat="slack").actor("U_ANA")
    assert (actor.name, set(actor.teams), actor.is_guest) == ("ana", {"sre", "named"}, False)


async def test_an_outsider_is_in_no_team_even_if_a_group_lists_them() -> None:
    chat = Chat({"U_ANA": Account(id="U_ANA", name="ana", is_outsider=True)}, {"S_SRE": ["U_ANA"]})
    actor = await People(chat, TEAMS, PersonBook(), chat="slack").actor("U_ANA")
    assert actor.is_guest
    assert not actor.teams


async def test_one_failed_lookup_is_repeated() -> None:
    chat = Chat({"U_ANA": Account(id="U_ANA", name="ana")}, {"S_SRE": ["U_ANA"]}, failures=1)
    assert (await People(chat, TEAMS, PersonBook(), chat="slack").actor("U_ANA")).teams == {"sre", "named"}


async def test_an_unknown_person_whose_lookup_fails_may_be_a_member_and_is_looked_up_again_at_once() -> None:
    chat = Chat({}, {"S_SRE": ["U_ANA"]})
    people = People(chat, TEAMS, PersonBook(), chat="slack")
    with pytest.raises(UnknownPersonError) as caught:
        await people.actor("U_ANA")
    assert not caught.value.is_outsider
    chat.accounts["U_ANA"] = Account(id="U_ANA", name="ana")
    assert (await people.actor("U_ANA")).teams == {"sre", "named"}


@pytest.mark.parametrize("is_outsider", [False, True])
async def test_who_is_an_outsider_is_known_of_a_person_who_was_seen_before(
    is_outsider: bool,
) -> None:
    chat = Chat({"U_ANA": Account(id="U_ANA", name="ana", is_outsider=is_outsider)}, {"S_SRE": []})
    people = People(chat, TEAMS, PersonBook(), chat="slack")
    await people.actor("U_ANA")
    chat.accounts.clear()
    with pytest.raises(UnknownPersonError) as caught:
        await people.actor("U_ANA", is_fresh=True)
    assert caught.value.is_outsider is is_outsider


async def test_a_group_that_does_not_answer_is_not_taken_for_an_empty_one() -> None:
    chat = Chat({"U_BO": Account(id="U_BO", name="bo")}, None)
    with pytest.raises(UnknownPersonError) as caught:
        await People(chat, TEAMS, PersonBook(), chat="slack").actor("U_BO")
    assert not caught.value.is_outsider


@pytest.mark.parametrize("groups", [{}, None], ids=["a group that does not exist", "a chat without groups"])
async def test_where_no_group_is_nobody_is_in_it(groups: dict[str, list[str]] | None) -> None:
    chat = Chat({"U_BO": Account(id="U_BO", name="bo")}, groups, permanent=True)
    assert not (await People(chat, TEAMS, PersonBook(), chat="slack").actor("U_BO")).teams


async def test_one_call_finds_the_groups_of_all_teams() -> None:
    """Chats limit calls: with one for each group, a few confirmations in a minute would be refused."""
    chat = Chat({"U_BO": Account(id="U_BO", name="bo")}, {"S7": ["U_BO"]})
    teams = {f"team-{number}": TeamSettings(slack_groups=(f"S{number}",)) for number in range(20)}
    assert (await People(chat, teams, PersonBook(), chat="slack").actor("U_BO", is_fresh=True)).teams == {
        "team-7"
    }
    assert chat.lookups == 2  # of the account, and of all groups


async def test_a_lookup_is_cached_for_a_while_and_then_repeated() -> None:
    chat = Chat({"U_BO": Account(id="U_BO", name="bo")}, {"S_SRE": ["U_BO"]})
    people = People(chat, TEAMS, PersonBook(), chat="slack")
    assert (await people.actor("U_BO")).teams == {"sre"}
    chat.members = {"S_SRE": []}
    await asyncio.sleep(TRUST_FOR.total_seconds() - 1)
    assert (await people.actor("U_BO")).teams == {"sre"}
    assert chat.lookups == 2
    await asyncio.sleep(1)
    assert not (await people.actor("U_BO")).teams
    assert chat.lookups == 4


async def test_a_fresh_lookup_does_not_use_the_cache_and_renews_it() -> None:
    chat = Chat({"U_BO": Account(id="U_BO", name="bo")}, {"S_SRE": ["U_BO"]})
    people = People(chat, TEAMS, PersonBook(), chat="slack")
    bo = await people.actor("U_BO")
    chat.members = {"S_SRE": []}
    assert not (await people.current(bo)).teams
    assert not (await people.actor("U_BO")).teams
