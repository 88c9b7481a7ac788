"""Runs the checks of one cluster on what its Kubernetes API shows, with whatever goes wrong contained."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found, SourceState
from collectors.facts.labels import Labels
from collectors.facts.missing_metrics import MissingMetrics
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery, Query
from collectors.facts.results import Blind, QueryResult, Sample, Seen
from collectors.facts.sentences import sentence
from collectors.internal_errors import InternalErrors

KUBERNETES = "kubernetes"
SLICE = 0.01  # seconds that a check runs before others may


class CheckRunner:
    """The checks and their input. `has_cluster`: the settings give access to the cluster's Kubernetes API."""

    def __init__(
        self,
        checks: Mapping[str, ClusterCheck],
        check_input: Callable[[datetime, tuple[SourceState, ...]], CheckInput],
        *,
        has_cluster: bool = True,
        errors: InternalErrors | None = None,
    ) -> None:
        self.has_cluster = has_cluster
        self._checks = checks
        self._check_input = check_input
        self._errors = errors or InternalErrors()

    def health(self, *, at: datetime) -> Blind | None:
        """Return why the cluster cannot be seen now."""
        inputs = self._inputs(at, ())
        if isinstance(inputs, Blind):
            return inputs
        return inputs.inventory if isinstance(inputs.inventory, Blind) else None

    def queries_of(self, query: CheckQuery) -> tuple[PromQLQuery | LogQuery, ...]:
        """Return the queries whose samples the check needs."""
        check = self._checks.get(query.name)
        return check.queries if check is not None else ()

    def with_metrics(self, queries: Mapping[str, Query]) -> Mapping[str, Query]:
        """Return the queries with that of metrics in the place of each check that needs some."""
        return with_metrics(queries, self._checks)

    def kinds_of(self, query: CheckQuery) -> frozenset[str]:
        """Return the kinds of objects that the check reads."""
        check = self._checks.get(query.name)
        return check.reads if check is not None else frozenset()

    def needs_missing(self, query: CheckQuery) -> bool:
        """Whether the check needs to know which metrics rules miss."""
        check = self._checks.get(query.name)
        return check is not None and "missing" in check.needs

    async def run(
        self,
        query: CheckQuery,
        *,
        at: datetime,
        sources: tuple[SourceState, ...],
        results: Sequence[QueryResult] = (),
        missing: Sequence[MissingMetrics] | Blind = (),
        standing: Mapping[Labels, bool] | None = None,
    ) -> QueryResult:
        """Return the samples of a check. It is Blind while an input or a kind that it needs is.

        `results` are those of the queries that it needs, and `missing` the metrics that rules miss. `standing` are the
        labels of its own rule's alerts.
        """
        check = self._checks.get(query.name)
        if check is None:
            return Blind(
                source="check", at=at, reason=sentence("there is no check `{query}`", query=query.name)
            )
        inputs = self._inputs(at, sources)
        if isinstance(inputs, Blind):
            return inputs
        inputs = _with_results(inputs, check, results)
        inputs = replace(inputs, missing=missing, standing=standing or {})
        for need in sorted(check.needs):
            value: Any = getattr(inputs, need)
            if isinstance(value, Blind):
                return value
        if not isinstance(inputs.inventory, Blind):
            for kind in sorted(check.kinds & inputs.inventory.missing.keys()):
                missing_kind = sentence(
                    "{kind} cannot be seen: {missing}", kind=kind, missing=inputs.inventory.missing[kind]
                )
                return Blind(source=KUBERNETES, at=at, reason=missing_kind)
        try:
            samples = await _in_slices(check.run(inputs, {**check.parameters, **query.parameters}))
        except Exception as error:
            reason = self._errors.contain(error, "check", check=check.name)
            return Blind(source=f"check {check.name}", at=at, reason=reason)
        return Seen(source=f"check {check.name}", at=at, samples=samples)

    def _inputs(self, at: datetime, sources: tuple[SourceState, ...]) -> CheckInput | Blind:
        try:
            return self._check_input(at, sources)
        except Exception as error:
            return Blind(source=KUBERNETES, at=at, reason=self._errors.contain(error, KUBERNETES))


def with_metrics(queries: Mapping[str, Query], checks: Mapping[str, ClusterCheck]) -> Mapping[str, Query]:
    """Return the queries with that of metrics in the place of each check that needs some."""

    def metrics_of(query: Query) -> Query:
        check = checks.get(query.name) if isinstance(query, CheckQuery) else None
        return check.metrics if check is not None and check.metrics is not None else query

    return {name: metrics_of(query) for name, query in queries.items()}


def _with_results(inputs: CheckInput, check: ClusterCheck, results: Sequence[QueryResult]) -> CheckInput:
    samples = [one if isinstance(one, Blind) else one.samples for one in results]
    if check.metrics is not None and samples:
        inputs = replace(inputs, metrics=samples.pop(0))
    if not samples:
        return inputs
    blind = next((one for one in samples if isinstance(one, Blind)), None)
    logs = [one for one in samples if not isinstance(one, Blind)]
    return replace(inputs, logs=blind if blind is not None else logs)


async def _in_slices(found: Found) -> tuple[Sample, ...]:
    """Return the samples of a check. Others run between its slices."""
    loop = asyncio.get_running_loop()
    samples: list[Sample] = []
    since = loop.time()
    for one in found:
        if one is not None:
            samples.append(one)
        elif loop.time() - since >= SLICE:
            await asyncio.sleep(0)
            since = loop.time()
    return tuple(samples)
