"""The reading of a typed line: what it means, and what the thread in which it was typed concerns."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from alerts.rules import Rule
from alerts.store import Store
from commands.core.cluster_names import names_of
from commands.core.cluster_selection import cluster_of_incident
from commands.core.context import Cluster, Defaults
from commands.core.matching.interpretation import (
    Fill,
    Offer,
    Run,
    interpret,
    interpret_answer,
    is_interpreted,
)
from commands.core.matching.known_names import KnownNames
from commands.core.matching.lexicon import Lexicon
from commands.core.matching.references import ThreadNames
from commands.core.parameter_types import NameKind
from commands.core.parsing import find
from commands.core.request import ActorKind, Request
from commands.core.thread_names import thread_names
from commands.gates.owner_question import OwnerQuestion, question_of_thread


@dataclass(frozen=True, slots=True)
class LineThread:
    """The thread in which a line was typed: names for what it concerns, its cluster, and what its request asks."""

    names: ThreadNames = field(default_factory=dict)
    cluster: str = ""
    question: OwnerQuestion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineReader:
    """Reads lines with the words of the commands, and the names of the clusters, rules and teams."""

    lexicon: Lexicon
    store: Store
    clusters: Mapping[str, Cluster]
    rules: Callable[[str], Mapping[str, Rule]]  # those in force in a cluster, by id
    teams: tuple[str, ...]
    defaults: Defaults

    async def meaning_of(
        self, request: Request, words: Sequence[str], cluster: str, thread: LineThread
    ) -> Run | Fill | Offer:
        """Return what the line means, in the thread of an incident, of a request, or in none.

        Automation says what it means. In the thread of a request an answer to it goes before what the line names.
        """
        if request.actor.kind is ActorKind.AUTOMATION:
            return Run(command=find(words, self.lexicon.catalogue), words=tuple(words))
        if thread.question is not None and (answer := interpret_answer(words, thread.question, self.lexicon)):
            return answer
        if is_interpreted(words, self.lexicon):  # counting takes a second, the first time
            await asyncio.to_thread(self.lexicon.examples.count)
        return interpret(words, self.lexicon, partial(self._names, request, words, cluster), thread.names)

    def _names(self, request: Request, words: Sequence[str], cluster: str) -> KnownNames:
        """Return the names of the cluster, or of another one that the line names, and those of all of them."""
        clusters = KnownNames({NameKind.CLUSTER: tuple(self.clusters) if len(self.clusters) > 1 else ()})
        _, said = clusters.apart_from_cluster(words)
        known = names_of(
            self.clusters.get(said or cluster), self.rules(said or cluster), self.teams, self.defaults
        )
        return replace(known.also(clusters.names), me=request.actor.id)

    async def thread_of(self, request: Request) -> LineThread:
        """Return what the incident, or the request, concerns in whose thread the line was typed, and its cluster."""
        origin = request.origin
        if not origin.incident and not origin.request:
            return LineThread()
        if not origin.incident:
            async with self.store.read() as snapshot:
                question = await question_of_thread(origin, snapshot)
            if question is None:
                return LineThread()
            return LineThread({NameKind.REQUEST: question.request}, origin.cluster, question)
        async with self.store.read() as snapshot:
            cluster = await cluster_of_incident(origin.incident, snapshot)
            if not origin.thread:
                return LineThread(cluster=cluster)
            return LineThread(await thread_names(origin, snapshot, self.rules(cluster)), cluster)
