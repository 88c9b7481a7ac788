"""Trainings that a job does something for once: it wakes when they change, and remembers which ones it has done."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from bot.jobs.cluster_changes import check_after_changes
from bot.live_cluster import LiveCluster
from collectors.cluster.cache import ObjectChange
from collectors.cluster.kinds import owner_kinds
from collectors.facts.results import SourceError
from collectors.trainings.training import Training

_Key = tuple[str, str, datetime | None]  # cluster, key of the training, when this one began


class EachTraining:
    """The trainings of all clusters that are not done yet.

    `concerns` says which ones there is something to do for, and `began` tells the runs of one name apart.
    """

    def __init__(
        self,
        clusters: Mapping[str, LiveCluster],
        *,
        concerns: Callable[[Training], bool],
        began: Callable[[Training], datetime | None],
    ) -> None:
        self._clusters = clusters
        self._concerns = concerns
        self._began = began
        self._done: set[_Key] = set()  # of trainings that are still there
        self._kinds = frozenset(kind.name for kind in owner_kinds().values())
        self._changed = asyncio.Event()

    async def run(self, check: Callable[[], Awaitable[None]]) -> None:
        """Check after each change of a training, until cancelled."""
        await check_after_changes(check, self._changed, self._clusters, self._note)

    def left(self) -> list[tuple[LiveCluster, list[Training]]]:
        """Return those that are not done, by cluster. What cannot be seen is remembered as it was."""
        found: list[tuple[LiveCluster, list[Training]]] = []
        seen: set[_Key] = set()
        for name, cluster in self._clusters.items():
            try:
                trainings = cluster.trainings()
            except SourceError:
                seen |= {key for key in self._done if key[0] == name}
                continue
            keys = {self._key(cluster, one): one for one in trainings if self._concerns(one)}
            seen |= keys.keys()
            found.append((cluster, [one for key, one in keys.items() if key not in self._done]))
        self._done &= seen
        return found

    def done(self, cluster: LiveCluster, training: Training) -> None:
        """Remember that there is nothing more to do for it."""
        self._done.add(self._key(cluster, training))

    def _key(self, cluster: LiveCluster, training: Training) -> _Key:
        return cluster.name, training.id, self._began(training)

    def _note(self, _cluster: str, change: ObjectChange) -> None:
        if change.kind in self._kinds:
            self._changed.set()
