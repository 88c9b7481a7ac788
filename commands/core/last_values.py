"""Last values: the options that a form begins with, as the same person filled it in before."""

from alerts.store import StoreSnapshot
from commands.core.cluster_selection import cluster_named
from commands.core.command import AnyCommand
from commands.core.matching.interpretation import positional_words
from commands.core.parsing import words_of
from commands.core.persons import Persons
from commands.core.request import Actor
from commands.execution.plan import Plan

LOOKED_AT = 100  # plans of the person, the newest


async def last_words(
    command: AnyCommand, actor: Actor, persons: Persons, snapshot: StoreSnapshot
) -> tuple[str, ...]:
    """Return the options of the person's last confirmed plan of this command, without the names that it was about."""
    plans = await snapshot.rows(Plan).find(actor=persons.ids_of(actor.person), newest=True, limit=LOOKED_AT)
    last = next((one for one in plans if one.command == command.name and one.confirmed_at is not None), None)
    if last is None:
        return ()
    words, _ = cluster_named(words_of(last.line))
    given = words[len(command.name.split()) :]
    cut = given.index("--") if "--" in given else len(given)
    names = set(positional_words(command, given[:cut]))
    return tuple(word for at, word in enumerate(given) if at not in names)
