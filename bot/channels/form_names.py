"""The names that a form's menus suggest: of the live cluster, and of what is open in our store."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from alerts.incidents.incident import Incident
from alerts.rules import Rule
from alerts.silences import Silence
from alerts.store import Row, Store, StoreSnapshot
from bot.chat_accounts import People, UnknownPersonError
from commands.core.cluster_names import names_of
from commands.core.context import Cluster, Defaults
from commands.core.parameter_types import NameKind
from commands.core.parent_members import open_parents
from commands.execution.plan import Plan
from commands.gates.breaker import Breaker
from commands.models import ReclaimRequest

# From a person's id, the kinds of names, the typed text and the cluster to names.
Suggest = Callable[[str, tuple[NameKind, ...], str, str], Awaitable[Sequence[str]]]

MOST = 100  # names that a menu takes
RECENT = 50  # plans


@dataclass(frozen=True, slots=True, kw_only=True)
class FormNames:
    """Suggests names to members of a team; everybody else gets none."""

    people: People
    store: Store
    clusters: Mapping[str, Cluster]
    rules: Callable[[], Mapping[str, Rule]]
    teams: Sequence[str]
    defaults: Defaults

    async def __call__(
        self, user: str, kinds: tuple[NameKind, ...], typed: str, cluster: str
    ) -> Sequence[str]:
        """Return the names of these kinds that have the typed text, those that begin with it first."""
        try:
            actor = await self.people.actor(user)
        except UnknownPersonError:
            return ()
        if actor.is_guest or not actor.teams:
            return ()
        name = cluster or next(iter(self.clusters), "")
        known = names_of(self.clusters.get(name), self.rules(), self.teams, self.defaults).names
        async with self.store.read() as snapshot:
            found = [
                one for kind in kinds for one in (*known.get(kind, ()), *await _stored(kind, name, snapshot))
            ]
        wanted = typed.strip().lower()
        fitting = [one for one in dict.fromkeys(found) if wanted in one.lower()]
        return sorted(fitting, key=lambda one: not one.lower().startswith(wanted))[:MOST]


async def _stored(kind: NameKind, cluster: str, snapshot: StoreSnapshot) -> list[str]:
    match kind:
        case NameKind.INCIDENT:
            incidents = await snapshot.rows(Incident).find(cluster=cluster, state="open", limit=MOST)
            parents = await open_parents(cluster, snapshot)
            return [*(one.id for one in parents), *(one.id for one in incidents)]
        case NameKind.PLAN:
            return await _newest(Plan, cluster, snapshot, limit=RECENT)
        case NameKind.SILENCE:
            return await _newest(Silence, cluster, snapshot)
        case NameKind.BREAKER:
            return await _newest(Breaker, cluster, snapshot)
        case NameKind.REQUEST:
            return await _newest(ReclaimRequest, cluster, snapshot)
        case _:
            return []


async def _newest(row: type[Row], cluster: str, snapshot: StoreSnapshot, *, limit: int = MOST) -> list[str]:
    return [one.id for one in await snapshot.rows(row).find(cluster=cluster, newest=True, limit=limit)]
