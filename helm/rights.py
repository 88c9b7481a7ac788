"""This file works out which rights in Kubernetes the program needs: to look, and for each command to act."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from collectors.cluster.kinds import DEFAULT_KINDS, ResourceKind
from commands.core.command import Command, Right

Rules = list[dict[str, list[str]]]  # as in a role
_PATH = re.compile(
    r"/(?:api/v1|apis/(?P<group>[^/]+)/[^/]+)(?:/namespaces/(?P<namespace>[^/]+))?/(?P<plural>[a-z]+)"
)
_NAME = re.compile(r"metadata\.name=([a-z0-9.-]+)")
_WATCH = ("get", "list", "watch")
NEVER_READ = frozenset(
    {"secrets"}
)  # made, and never read across the cluster: the pull secret has a Role of its own
_LOGS = ("", "", "pods/log", "", "get")  # the last lines of a pod, through the Kubernetes source

Wish = tuple[str, str, str, str, str]  # namespace, group, resource, its one name, verb


class Rights(TypedDict):
    """The rules for the whole cluster, and those for a namespace by its name."""

    cluster: Rules
    namespaces: dict[str, Rules]


def look_rights(
    commands: Sequence[Command[Any]], kinds: Iterable[ResourceKind[Any]] = DEFAULT_KINDS
) -> Rights:
    """The rules of the role that looks: what the cache watches, logs, and what commands that only look declare.

    Raises ValueError when one of those declares a right to change something.
    """
    wishes: list[Wish] = [wish for kind in kinds for wish in _watched(kind)] + [_LOGS]
    for command in commands:
        if command.read is None:
            continue
        for right in command.rights:
            if writes := set(right.verbs) - set(_WATCH):
                raise ValueError(f"{command.name} only looks, yet declares {', '.join(sorted(writes))}")
            wishes += _wished(right)
    return _placed(wishes)


def act_rights(commands: Sequence[Command[Any]]) -> dict[str, Rights]:
    """The rules that each command needs beyond looking, by the command's name. Those that need none are not there.

    Whatever is changed may be read too, for the performer looks at a thing before and after it writes.
    """
    return {
        command.name: _placed([wish for right in command.rights for wish in _wished(right)])
        for command in sorted(commands, key=lambda command: command.name)
        if command.rights and command.read is None
    }


def _wished(right: Right) -> list[Wish]:
    return [
        (right.namespace, right.group, resource, "", verb)
        for resource in right.resources
        for verb in (right.verbs if resource in NEVER_READ else _with_get(right.verbs))
    ]


def _placed(wishes: Sequence[Wish]) -> Rights:
    places = sorted({wish[0] for wish in wishes} - {""})
    return {
        "cluster": _rules(wish for wish in wishes if not wish[0]),
        "namespaces": {place: _rules(wish for wish in wishes if wish[0] == place) for place in places},
    }


def _with_get(verbs: Sequence[str]) -> tuple[str, ...]:
    return tuple(verbs) if set(verbs) <= set(_WATCH) else (*verbs, "get")


def _watched(kind: ResourceKind[Any]) -> list[Wish]:
    found = _PATH.fullmatch(kind.path)
    if found is None:
        raise ValueError(f"{kind.name} is cached from {kind.path}, which is no collection's path")
    name = _NAME.search(kind.params.get("fieldSelector", ""))
    return [
        (found["namespace"] or "", found["group"] or "", found["plural"], name[1] if name else "", verb)
        for verb in _WATCH
    ]


def _rules(wishes: Iterable[Wish]) -> Rules:
    """As few rules as may be: resources of a group that want the same verbs stand together."""
    verbs: dict[tuple[str, str, str], set[str]] = {}
    for _place, group, resource, name, verb in wishes:
        verbs.setdefault((group, resource, name), set()).add(verb)
    together: dict[tuple[str, tuple[str, ...], bool], list[tuple[str, str]]] = {}
    for (group, resource, name), wanted in sorted(verbs.items()):
        together.setdefault((group, tuple(sorted(wanted)), bool(name)), []).append((resource, name))
    rules: Rules = []
    for (group, wanted_verbs, is_named), things in together.items():
        rule = {"apiGroups": [group], "resources": sorted({resource for resource, _ in things})}
        if is_named:
            rule["resourceNames"] = sorted({name for _, name in things})
        rules.append({**rule, "verbs": list(wanted_verbs)})
    return rules
