"""Diagnosis of the access to Kubernetes: every right that is needed, asked of the API server itself."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from bot.doctor.role_rules import (
    Rights,
    Rules,
    act_rights,
    kinds_of_resource,
    look_rights,
    rule_object_rights,
    without_kinds,
)
from bot.settings.schema import Settings
from bot.settings.source_settings import KubernetesSettings
from collectors.blind_checks import rules_without
from collectors.facts.findings import Finding, blinding, broken, ok
from collectors.facts.name_patterns import fits_any
from collectors.facts.queries import Query
from collectors.facts.results import SourceError
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from commands.core.command import AnyCommand
from commands.execution.access import Access

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_AT_ONCE = 16  # reviews: the API server limits the rate of requests
READING = "reading"


class _Status(msgspec.Struct):
    allowed: bool = False
    username: str = ""


class _UserStatus(msgspec.Struct, rename="camel"):
    user_info: _Status = msgspec.field(default_factory=_Status)


class _Group(msgspec.Struct):
    name: str


class _Groups(msgspec.Struct):
    groups: list[_Group] = []


class _Review(msgspec.Struct):
    status: _Status = msgspec.field(default_factory=_Status)


class _UserReview(msgspec.Struct):
    status: _UserStatus = msgspec.field(default_factory=_UserStatus)


async def diagnose_kubernetes(
    kube: KubernetesSettings,
    settings: Settings,
    commands: Sequence[AnyCommand],
    queries: Mapping[str, Query] = MappingProxyType({}),
    *,
    impersonates: bool = False,
) -> Sequence[Finding]:
    """Return whether the API server answers, and which rights are missing to read and for the permitted commands.

    `queries` are those of rules, by the rule's name: a finding names those that it leaves without their objects.
    """
    options = KubernetesOptions(kubeconfig=kube.kubeconfig, context=kube.context)
    try:
        client = await KubernetesClient.connect(options)
    except SourceError as error:
        unusable = broken(str(error), "correct the kubeconfig that the settings name")
        return [blinding(unusable, rules_without(queries), str(error))]
    try:
        who = await _who(client)
        needed = needed_rights(settings, commands, impersonates=impersonates)
        missing = of_served(await _missing(client, needed), await _served(client))
    except SourceError as error:
        fix = "check the API server and the kubeconfig: until then everything about the cluster is blind"
        return [blinding(broken(str(error), fix), rules_without(queries), str(error))]
    finally:
        await client.close()
    found = [ok(f"{client.where} answers, and knows the account as {who}")]
    if not missing:
        return [*found, ok("it has all rights that reading and the permitted commands need")]
    return [*found, *_findings(missing, needed, who, queries)]


def needed_rights(
    settings: Settings, commands: Sequence[AnyCommand], *, impersonates: bool = False
) -> dict[Access, list[str]]:
    """Return the rights to read, and those of the commands that somebody may run; each with what needs it."""
    found: dict[Access, list[str]] = {}

    kinds = settings.commands.training_kinds

    def need(rights: Rights, by: str) -> None:
        for right in _each(without_kinds(rights, kinds, is_look=by == READING)):
            found.setdefault(right, []).append(by)

    need(look_rights(commands), READING)
    if settings.rules.objects:
        need(rule_object_rights(), "rules.objects")
    for right in _impersonated(settings) if impersonates else ():
        found.setdefault(right, []).append("impersonate")
    patterns = {pattern for team in settings.teams.values() for pattern in team.commands}
    patterns |= {pattern for one in settings.automation.values() for pattern in one.commands}
    for name, rights in act_rights(commands).items():
        if fits_any(name, patterns):
            need(rights, name)
    return found


def _impersonated(settings: Settings) -> Iterable[Access]:
    """Yield the rights to act in the name of the listed people."""
    for person in settings.people.values():
        if person.kubernetes is not None and person.kubernetes.user is not None:
            yield Access(group="", resource="users", verb="impersonate", name=person.kubernetes.user)
            for group in person.kubernetes.groups:
                yield Access(group="", resource="groups", verb="impersonate", name=group)


def _each(rights: Rights) -> Iterable[Access]:
    yield from _of_rules(rights["cluster"], "")
    for namespace, rules in rights["namespaces"].items():
        yield from _of_rules(rules, namespace)


def _of_rules(rules: Rules, namespace: str) -> Iterable[Access]:
    for rule in rules:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for name in rule.get("resourceNames") or [""]:
                    for verb in rule["verbs"]:
                        yield Access(
                            group=group, resource=resource, verb=verb, namespace=namespace, name=name
                        )


async def _missing(client: KubernetesClient, needed: Collection[Access]) -> list[Access]:
    slots = asyncio.Semaphore(_AT_ONCE)

    async def is_allowed(right: Access) -> bool:
        async with slots:
            body = await client.call("POST", _REVIEWS, body=right.review())
        return msgspec.json.decode(body, type=_Review).status.allowed

    rights = sorted(needed)
    allowed = await asyncio.gather(*(is_allowed(right) for right in rights))
    return [right for right, may in zip(rights, allowed, strict=True) if not may]


def of_served(missing: Sequence[Access], served: Collection[str] | None) -> list[Access]:
    """Return the rights on API groups that the cluster serves: what it does not have, nobody needs to read.

    None: which groups it serves is not known.
    """
    return [right for right in missing if not right.group or served is None or right.group in served]


async def _served(client: KubernetesClient) -> frozenset[str] | None:
    try:
        body = await client.call("GET", "/apis")
    except SourceError as error:
        if error.status == 403:
            return None
        raise
    return frozenset(group.name for group in msgspec.json.decode(body, type=_Groups).groups)


async def _who(client: KubernetesClient) -> str:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        answer = await client.call("POST", _WHO, body=body)
    except SourceError as error:
        if error.status in (403, 404):  # older than Kubernetes 1.28
            return "the account of its credentials"
        raise
    return msgspec.json.decode(answer, type=_UserReview).status.user_info.username


def _findings(
    missing: Sequence[Access],
    needed: dict[Access, list[str]],
    who: str,
    queries: Mapping[str, Query],
) -> list[Finding]:
    """Return a finding for each resource, with the line of a role that fixes it."""
    by_resource: dict[tuple[str, str, str, tuple[str, ...]], list[Access]] = {}
    for right in missing:
        names = tuple(sorted({one.name for one in missing if _same(one, right)}))
        by_resource.setdefault((right.group, right.resource, right.namespace, names), []).append(right)
    found = []
    for (group, resource, namespace, names), rights in by_resource.items():
        verbs = list(dict.fromkeys(right.verb for right in rights))
        users = list(dict.fromkeys(user for right in rights for user in needed[right]))
        role = f"a Role in {namespace}" if namespace else "a ClusterRole"
        where = f" in {namespace}" if namespace else ""
        rule = f'{{apiGroups: ["{group}"], resources: [{resource}]'
        if any(names):
            rule += f", resourceNames: [{', '.join(names)}]"
        line = f"{rule}, verbs: [{', '.join(verbs)}]}}"
        commands = [user for user in users if user not in (READING, "rules.objects", "impersonate")]
        chart = f"; with the chart: enabledCommands: [{', '.join(commands)}]" if commands else ""
        what = f"{resource}.{group}" if group else resource
        text = f"{who} may not {', '.join(verbs)} {what}{where}, which is needed for {', '.join(users)}"
        cannot = broken(text, f"add to {role} of {who}: {line}{chart}")
        kinds = kinds_of_resource(group, resource) if READING in users else ()
        rules = frozenset(rule for kind in kinds for rule in rules_without(queries, kind))
        cause = f"{who} may not {', '.join(verbs)} {what}{where}"
        found.append(blinding(cannot, rules, cause) if rules else cannot)
    return found


def _same(one: Access, other: Access) -> bool:
    return (one.group, one.resource, one.namespace, one.verb) == (
        other.group,
        other.resource,
        other.namespace,
        other.verb,
    )
