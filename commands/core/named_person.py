"""A person as a line names them: a mention, or an owner as the cluster names them."""

import re
from difflib import get_close_matches

from collectors.facts.sentences import as_code, sentence
from commands.core.command import UnusableError
from commands.core.context import CommandContext

_CHAT_ID = re.compile(r"[UW][A-Z0-9]{2,}")


async def teams_of(person: str, context: CommandContext) -> tuple[str, ...]:
    """Return the teams of the settings that somebody is in, as far as their people can be looked up."""
    if context.members is None:
        return ()
    people = {team: await context.members(team) for team in sorted(context.teams)}
    return tuple(
        team for team, ids in people.items() if any(context.persons.person_of(id) == person for id in ids)
    )


def named_person(named: str, context: CommandContext) -> tuple[str, str]:
    """Return the id and name of a mentioned person, or of an owner as the cluster names them."""
    owners = context.defaults.owners
    word = named.removeprefix("@")
    if word in owners:
        return owners[word], word
    if _CHAT_ID.fullmatch(word):
        to = context.persons.person_of(word)
        return to, next((name for name, id in owners.items() if id == to), "")
    if close := get_close_matches(word, owners, n=3):
        near = as_code(f"@{name}" for name in close)
        raise UnusableError(
            sentence("Yardmaster does not know `{named}`. Did you mean {near}?", named=named, near=near)
        )
    raise UnusableError(
        sentence(
            "Yardmaster does not know `{named}`. Type @ and choose the person from the list that "
            "Slack shows.",
            named=named,
        )
    )
