"""The culprit finder: asks Prometheus which pods use up a node's memory or CPUs, while an incident is open about it.

Nothing is stored, and nothing waits for it: a card without them is whole, and what is not known is left out.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import timedelta
from functools import partial

from alerts.cards.culprits import Culprit, wanted_culprits
from alerts.incidents.incident import Incident
from alerts.rules import Culprits, Rule
from alerts.store import Changed, Store
from bot.live_cluster import LiveCluster
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.internal_errors import InternalErrors
from commands.incident.culprit_search import MEASURED_USE, with_most

EVERY = timedelta(minutes=1)
PAUSE = timedelta(seconds=2)  # after a change: other rows of the same fault follow
MOST = 20  # incidents asked about in one look, the newest first


@dataclass(eq=False, slots=True)
class CulpritFinder:
    """What is known of open incidents. Pass `wake` to the store's `listen`; `on_change` gets a cluster's name."""

    store: Store
    clusters: Mapping[str, LiveCluster]
    rules: Callable[[], Mapping[str, Rule]]
    clock: Clock
    _: KW_ONLY
    on_change: Callable[[str], None]
    errors: InternalErrors = field(default_factory=InternalErrors)
    _known: dict[str, tuple[Culprit, ...]] = field(default_factory=dict, init=False)  # by incident
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def of(self, incident: Incident) -> tuple[Culprit, ...]:
        """Return what was found last of an open incident."""
        return self._known.get(incident.id, ()) if incident.is_open else ()

    def wake(self, changed: Changed) -> None:
        """Listen to the store: an incident may have been opened."""
        if "incidents" in changed:
            self._changed.set()

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            self._changed.clear()
            is_waiting = await self.look()
            try:
                async with asyncio.timeout(EVERY.total_seconds() if is_waiting else None):
                    await self._changed.wait()
                    await asyncio.sleep(PAUSE.total_seconds())
            except TimeoutError:
                continue

    async def look(self) -> bool:
        """Ask about the open incidents that want to know; return whether there is one."""
        rules = self.rules()
        async with self.store.read() as snapshot:
            found = await snapshot.rows(Incident).find(state="open", newest=True)
        wanted = {
            one.id: (one, nodes)
            for one in found
            if (nodes := {kind: node for kind in MEASURED_USE if (node := wanted_culprits(one, rules, kind))})
        }
        self._known = {id: known for id, known in self._known.items() if id in wanted}
        for incident, nodes in list(wanted.values())[:MOST]:
            await self._ask(incident, nodes)
        return bool(wanted)

    async def _ask(self, incident: Incident, nodes: Mapping[Culprits, str]) -> None:
        cluster = self.clusters.get(incident.cluster)
        if cluster is None:
            return
        before = self._known.pop(incident.id, ())
        try:
            query = partial(cluster.query, at=self.clock.now())
            asked = [await with_most(kind, node, cluster, query) for kind, node in nodes.items()]
            found = tuple(one for some in asked for one in some)
        except SourceError:
            found = ()
        except Exception as error:  # one incident's bug must not stop the others
            self.errors.contain(error, "culprits", incident=incident.id)
            found = ()
        if found:
            self._known[incident.id] = found
        if [one.pod for one in found] != [one.pod for one in before]:
            self.on_change(incident.cluster)  # the figures alone are seen when the card is composed next
