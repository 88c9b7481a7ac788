"""Facts that may prove that faults are over: the topology, and the proof queries of the incidents that wait for one."""

import asyncio
from collections.abc import Collection, Mapping
from datetime import datetime

from alerts.incidents.proofs import ProofFacts
from alerts.rules import Rule
from collectors.facts.results import Blind
from collectors.facts.topology import Topology
from collectors.query_router import QueryRouter


async def proof_facts(
    rules: Mapping[str, Rule],
    waiting: Collection[str],
    router: QueryRouter,
    *,
    topology: Topology | None,
    now: datetime,
) -> ProofFacts:
    """Return what may prove something now. Only the proof queries of the `waiting` rules are sent.

    An answer that is not whole says nothing, so it is left out. `topology` is None while the cluster cannot be seen.
    """
    queries = {
        id: rule.template.proof_query
        for id, rule in rules.items()
        if id in waiting and rule.template.proof_query is not None
    }
    answers = await asyncio.gather(*(router.query(query, at=now) for query in queries.values()))
    samples = {
        id: answer.samples
        for id, answer in zip(queries, answers, strict=True)
        if not isinstance(answer, Blind) and not answer.unread
    }
    return ProofFacts(topology=topology, metrics=samples)
