"""Impersonation: writes of a person's plan are made with the person's own rights in Kubernetes."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from collectors.facts.results import SourceError
from collectors.facts.sentences import Sentence, sentence
from commands.execution.access import Access, KubernetesUser
from commands.execution.automation_ids import is_automation
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.object_paths import collection
from commands.execution.steps import Record, Running, Step, Wait

_AT_ONCE = 16  # questions: the API server limits the rate of requests
_READS = frozenset({"get", "list", "watch"})


class NotListedError(SourceError):
    """The settings do not say who a person is in Kubernetes."""

    def __init__(self, reason: Sentence) -> None:
        super().__init__(reason, temporary=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Impersonation:
    """Who acts in which cluster. `clusters` are those with `impersonate`, `users` are by the person that rows name.

    Automation acts as Yardmaster itself, and so does everybody in other clusters.
    """

    clusters: Collection[str] = ()
    users: Mapping[str, KubernetesUser] = field(default_factory=dict)
    person_of: Callable[[str], str] = lambda id: id

    def writer_for(self, writer: ClusterWriter, *, cluster: str, person: str, name: str) -> ClusterWriter:
        """Return the writer that writes as this person. Raises NotListedError."""
        if cluster not in self.clusters or is_automation(person):
            return writer
        user = self.users.get(self.person_of(person))
        if user is None:
            raise NotListedError(
                sentence(
                    "{cluster} takes changes only in the name of a person that it knows, and the settings do not say "
                    "who {name} is there: add `people: {{{name}: {{ids: [{person}], kubernetes: {{user: …}}}}}}`",
                    cluster=cluster,
                    name=name,
                    person=person,
                )
            )
        return writer.acting_as(user)


def accesses_of(steps: Iterable[Step]) -> tuple[Access, ...]:
    """Return what the steps write, by the rights of their kinds."""
    found: dict[Access, None] = {}
    for step in steps:
        if isinstance(step, Record | Running | Wait):
            continue
        plural = collection(step.ref).rpartition("/")[2]
        subresource = getattr(step, "subresource", "")
        group = step.ref.api.rpartition("/")[0]
        rights = type(step).rights(group, f"{plural}/{subresource}" if subresource else plural)
        for right in rights:
            for resource in right.resources:
                for verb in (one for one in right.verbs if one not in _READS):
                    name = "" if verb == "create" and "/" not in resource else step.ref.name
                    access = Access(
                        verb=verb, group=group, resource=resource, namespace=step.ref.namespace, name=name
                    )
                    found[access] = None
    return tuple(found)


async def refused_accesses(accesses: Sequence[Access], writer: ClusterWriter) -> tuple[str, ...]:
    """Return what Kubernetes does not let the writer's user do; empty for a writer of our own. Raises SourceError.

    It is asked about all objects of a kind in a namespace, and only where it says no about each of them.
    """
    if writer.user is None:
        return ()
    slots = asyncio.Semaphore(_AT_ONCE)

    async def refusal(access: Access) -> str | None:
        async with slots:
            return await writer.refusal(access)

    async def refusals(asked: Collection[Access]) -> dict[Access, str]:
        answers = await asyncio.gather(*map(refusal, asked))
        return {one: answer for one, answer in zip(asked, answers, strict=True) if answer is not None}

    of_kinds = await refusals({replace(one, name=""): None for one in accesses})
    named = [one for one in accesses if one.name and replace(one, name="") in of_kinds]
    found = await refusals(named) if named else {}
    found |= {one: of_kinds[one] for one in accesses if not one.name and one in of_kinds}
    return tuple(found.values())
