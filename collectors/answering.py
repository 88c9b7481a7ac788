"""This file answers questions: each goes to its door, with a deadline, a limit on how many at once, and a memory
of which source was blind since when."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from collectors.checks.scene import ClusterCheck, Scene, SourceState
from collectors.facts.questions import Check, LogSearch, Promql, Question
from collectors.facts.samples import Blind, Observation, Seen

DEADLINE = timedelta(seconds=12)
AT_ONCE = 8
BLIND_SHARE = 0.5  # of what a source was asked lately: from there on it is the source, not the rule
LATELY = timedelta(minutes=5)


class Metrics(Protocol):
    async def ask(self, question: Promql, *, at: datetime) -> Observation: ...

    async def awake(self, *, at: datetime) -> Blind | None: ...


class Logs(Protocol):
    async def search(self, question: LogSearch, *, at: datetime) -> Observation: ...

    async def awake(self, *, at: datetime) -> Blind | None: ...


@dataclass(slots=True, kw_only=True)
class _Health:
    """What is remembered of one source: since when it is blind, and how it answered each rule, by the rule's id."""

    blind_since: datetime | None = None
    why: str = ""
    asked: dict[str, datetime] = field(default_factory=dict)  # when last, and not while it was asleep
    blind: dict[str, str] = field(default_factory=dict)  # those that it could not answer then, and why
    useless: dict[str, str] = field(default_factory=dict)  # those whose answer could not be used, and why


class Answering:
    """Answers one cluster's questions. A source that the settings leave out is Blind, and not in `sources()`."""

    def __init__(
        self,
        *,
        metrics: Metrics | None,
        logs: Logs | None,
        checks: Mapping[str, ClusterCheck],
        scene: Callable[[datetime, tuple[SourceState, ...]], Scene],
        has_cluster: bool = True,
        deadline: timedelta = DEADLINE,
        at_once: int = AT_ONCE,
    ) -> None:
        self._metrics = metrics
        self._logs = logs
        self._checks = checks
        self._scene = scene
        self._deadline = deadline
        self._slots = asyncio.Semaphore(at_once)
        self._health: dict[str, _Health] = {}
        if metrics is not None:
            self._health["prometheus"] = _Health()
        if logs is not None:
            self._health["elasticsearch"] = _Health()
        if has_cluster:
            self._health["kubernetes"] = _Health()

    async def cycle(self, questions: Mapping[str, Question], *, at: datetime) -> dict[str, Observation]:
        """Answer these, by rule id. Whether each source is awake is asked first; a blind one is not asked more.

        Checks are answered last, since some of them look at how the others went.
        """
        asleep = await self._asleep(at)
        first = {id: question for id, question in questions.items() if not isinstance(question, Check)}
        answers = dict(
            zip(
                first,
                await asyncio.gather(*(self._ask(question, asleep, at) for question in first.values())),
                strict=True,
            )
        )
        self._remember(first, answers, asleep, at)
        for id, question in questions.items():
            if isinstance(question, Check):
                answers[id] = self._check(question, at)
        return answers

    async def ask(self, question: Question, *, at: datetime) -> Observation:
        """Answer one question as of `at`, outside of a cycle: what was missed, or what somebody wants to know."""
        asleep = await self._asleep(at)
        if isinstance(question, Check):
            return self._check(question, at)
        return await self._ask(question, asleep, at)

    def sources(self, *, at: datetime) -> tuple[SourceState, ...]:
        """How each source is."""
        return tuple(
            SourceState(
                source=name,
                blind_for=None if health.blind_since is None else at - health.blind_since,
                why=health.why,
                rules={**health.useless, **health.blind},
            )
            for name, health in self._health.items()
        )

    def note(self, id: str, question: Question, useless: str) -> None:
        """Whether what a rule was answered could be used: why not, or nothing when it could."""
        health = self._health.get(source_of(question))
        if health is not None and useless:
            health.useless[id] = useless
        elif health is not None:
            health.useless.pop(id, None)

    def forget(self, ids: Iterable[str]) -> None:
        """Rules that are gone: nobody asks them any more, so they are not blind either."""
        for health in self._health.values():
            for id in ids:
                for kept in (health.asked, health.blind, health.useless):
                    kept.pop(id, None)

    async def _asleep(self, at: datetime) -> dict[str, Blind]:
        """The sources that need not be asked, for nothing that they say now may be believed."""
        doors: dict[str, Metrics | Logs | None] = {"prometheus": self._metrics, "elasticsearch": self._logs}
        there = {name: door for name, door in doors.items() if door is not None}
        found = await asyncio.gather(*(self._awake(name, door, at) for name, door in there.items()))
        asleep = {name: blind for name, blind in zip(there, found, strict=True) if blind is not None}
        inventory = self._scene(at, ()).inventory
        if isinstance(inventory, Blind):
            asleep["kubernetes"] = inventory
        return asleep

    async def _awake(self, name: str, door: Metrics | Logs, at: datetime) -> Blind | None:
        try:
            async with asyncio.timeout(self._deadline.total_seconds()):
                return await door.awake(at=at)
        except TimeoutError:
            return self._late(name, at)

    async def _ask(
        self, question: Promql | LogSearch, asleep: Mapping[str, Blind], at: datetime
    ) -> Observation:
        name = source_of(question)
        if name in asleep:
            return asleep[name]
        try:
            async with self._slots, asyncio.timeout(self._deadline.total_seconds()):
                if isinstance(question, Promql):
                    if self._metrics is not None:
                        return await self._metrics.ask(question, at=at)
                elif self._logs is not None:
                    return await self._logs.search(question, at=at)
        except TimeoutError:
            return self._late(name, at)
        return Blind(source=name, at=at, why=f"the settings name no {name} for this cluster")

    def _late(self, name: str, at: datetime) -> Blind:
        seconds = self._deadline.total_seconds()
        return Blind(source=name, at=at, why=f"{name} did not answer within {seconds:.0f} s")

    def _check(self, question: Check, at: datetime) -> Observation:
        check = self._checks.get(question.name)
        if check is None:
            return Blind(source="check", at=at, why=f"there is no check `{question.name}`")
        scene = self._scene(at, self.sources(at=at))
        for need in sorted(check.needs):
            value: Any = getattr(scene, need)
            if isinstance(value, Blind):
                return value
        if not isinstance(scene.inventory, Blind):
            for kind in sorted(check.kinds & scene.inventory.missing.keys()):
                why = f"{kind} cannot be seen: {scene.inventory.missing[kind]}"
                return Blind(source="kubernetes", at=at, why=why)
        samples = check.run(scene, {**check.parameters, **question.parameters})
        return Seen(source=f"check {check.name}", at=at, samples=tuple(samples))

    def _remember(
        self,
        asked: Mapping[str, Promql | LogSearch],
        answers: Mapping[str, Observation],
        asleep: Mapping[str, Blind],
        at: datetime,
    ) -> None:
        """Who is blind, and since when. A few blind questions are their rules' trouble, many are the source's."""
        for name, health in self._health.items():
            here = [id for id, question in asked.items() if source_of(question) == name]
            blind = {id: answer.why for id in here if isinstance(answer := answers[id], Blind)}
            if name in asleep:
                self._blind(health, asleep[name].why, at)
                continue
            health.asked |= dict.fromkeys(here, at)
            health.blind = {**{id: why for id, why in health.blind.items() if id not in here}, **blind}
            lately = [id for id, asked_at in health.asked.items() if at - asked_at <= LATELY]
            if blind and sum(id in health.blind for id in lately) > BLIND_SHARE * len(lately):
                self._blind(health, next(iter(blind.values())), at)
            elif here or name == "kubernetes":
                if health.blind_since is not None:
                    health.blind = blind  # what the others were not answered was the source's trouble
                health.blind_since, health.why = None, ""

    @staticmethod
    def _blind(health: _Health, why: str, at: datetime) -> None:
        health.blind_since = health.blind_since or at
        health.why = why


def source_of(question: Question) -> str:
    """The source that answers it. A check looks at the cluster."""
    match question:
        case Promql():
            return "prometheus"
        case LogSearch():
            return "elasticsearch"
        case Check():
            return "kubernetes"
