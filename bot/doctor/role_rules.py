"""The rights in Kubernetes that the program needs: to read, and for each command to act."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypedDict

from bot.evaluation.rule_objects import PATH as RULE_OBJECTS
from collectors.cluster import kinds as watched
from collectors.cluster.kinds import ResourceKind
from collectors.trainings.catalogue import needs_by_option
from commands.core.command import Command
from commands.execution.rights import Right
from commands.training import training_kinds
from commands.training.writing_kind import WritingKind

Rules = list[dict[str, list[str]]]  # as in a role
_PATH = re.compile(
    r"/(?:api/v1|apis/(?P<group>[^/]+)/[^/]+)(?:/namespaces/(?P<namespace>[^/]+))?/(?P<plural>[a-z]+)"
)
_NAME = re.compile(r"metadata\.name=([a-z0-9.-]+)")
_WATCH = ("get", "list", "watch")
NEVER_READ = frozenset(
    {"secrets", "pods/eviction"}
)  # created, but never read across the cluster: the pull secret has a Role of its own, an eviction cannot be read
_LOGS = ("", "", "pods/log", "", "get")  # the last log lines of a pod, from the Kubernetes source

Wish = tuple[str, str, str, str, str]  # namespace, group, resource, resource name or "", verb


class Rights(TypedDict):
    """The rules for the whole cluster, and those of namespaces by name."""

    cluster: Rules
    namespaces: dict[str, Rules]


def look_rights(commands: Sequence[Command[Any]], kinds: Iterable[ResourceKind[Any]] | None = None) -> Rights:
    """The rules of the `-look` role: what the cache watches, pod logs, and the rights that read commands declare.

    Raises ValueError when a read command declares a right to write.
    """
    wishes: list[Wish] = [
        wish for kind in (watched.DEFAULT_KINDS if kinds is None else kinds) for wish in _to_watch(kind)
    ]
    wishes.append(_LOGS)
    for command in commands:
        if command.read is None:
            continue
        for right in command.rights:
            if writes := set(right.verbs) - set(_WATCH):
                raise ValueError(f"{command.name} only reads, but declares {', '.join(sorted(writes))}")
            wishes += _expanded(right)
    return _by_namespace(wishes)


def kinds_of_resource(group: str, resource: str) -> tuple[str, ...]:
    """Return the names of the watched kinds that are read as this resource."""
    return tuple(
        kind.name
        for kind in watched.DEFAULT_KINDS
        if any(wish[1:3] == (group, resource) for wish in _to_watch(kind))
    )


def rule_object_rights() -> Rights:
    """The rules that the setting `rules.objects` needs in addition."""
    return _by_namespace(_to_read(RULE_OBJECTS))


def without_kinds(rules: Rights, options: Collection[str], *, is_look: bool) -> Rights:
    """Return the rules without the kinds of training that are not used, as the chart gives them.

    The options are those that are typed, such as `jobset`; none: all kinds are used.
    """
    every = resources_of_kinds()["look" if is_look else "act"]
    on = {one for option, those in every.items() if not options or option in options for one in those}
    off = {one for those in every.values() for one in those} - on
    kept: Rules = []
    for rule in rules["cluster"]:
        (group,) = rule["apiGroups"]
        if left := [one for one in rule["resources"] if f"{group}/{one.partition('/')[0]}" not in off]:
            kept.append({**rule, "resources": left})
    return {"cluster": kept, "namespaces": rules["namespaces"]}


def resources_of_kinds() -> dict[str, dict[str, list[str]]]:
    """Return the resources of each kind of training that a cluster need not have, `group/plural` by its option.

    For looking they are all that are looked at for it, for acting all that commands change or name for it.
    """
    return {
        "look": {option: _resources(needs) for option, needs in needs_by_option().items()},
        "act": {kind.option: _changed(kind) for kind in training_kinds.KINDS.values()},
    }


def _changed(kind: WritingKind) -> list[str]:
    parts = (kind.launching, kind.suspending, kind.scaling)
    rights = (*kind.delete_rights, *(right for part in parts if part is not None for right in part.rights))
    return sorted(
        {f"{right.group}/{one}" for right in rights for one in right.resources if "." in right.group}
    )


def _resources(kinds: Iterable[ResourceKind[Any]]) -> list[str]:
    return sorted({f"{wish[1]}/{wish[2]}" for kind in kinds for wish in _to_watch(kind)})


def act_rights(commands: Sequence[Command[Any]]) -> dict[str, Rights]:
    """The rules that each command needs beyond reading, by the command's name; commands that need none are left out.

    What may be changed may be read too: the executor reads an object before and after it writes.
    """
    return {
        command.name: _by_namespace(_wishes(tuple(command.rights)))
        for command in sorted(commands, key=lambda command: command.name)
        if command.rights and command.read is None
    }


def _wishes(rights: Sequence[Right]) -> list[Wish]:
    """Return what a command needs. What it may read by name only is not readable because it may be created."""
    named = {(right.group, resource) for right in rights if right.names for resource in right.resources}
    return [wish for right in rights for wish in _expanded(right, named)]


def _expanded(right: Right, named: Collection[tuple[str, str]] = ()) -> list[Wish]:
    return [
        (right.namespace, right.group, resource, name, verb)
        for resource in right.resources
        for name in right.names or ("",)
        for verb in (
            right.verbs
            if resource in NEVER_READ or (right.group, resource) in named
            else _with_get(right.verbs)
        )
    ]


def _by_namespace(wishes: Sequence[Wish]) -> Rights:
    names = sorted({wish[0] for wish in wishes} - {""})
    return {
        "cluster": _rules(wish for wish in wishes if not wish[0]),
        "namespaces": {name: _rules(wish for wish in wishes if wish[0] == name) for name in names},
    }


def _with_get(verbs: Sequence[str]) -> tuple[str, ...]:
    return tuple(verbs) if set(verbs) <= set(_WATCH) else (*verbs, "get")


def _to_watch(kind: ResourceKind[Any]) -> list[Wish]:
    name = _NAME.search(kind.params.get("fieldSelector", ""))
    return _to_read(kind.path, name[1] if name else "")


def _to_read(collection: str, name: str = "") -> list[Wish]:
    path = _PATH.fullmatch(collection)
    if path is None:
        raise ValueError(f"{collection} is not a collection's path")
    return [(path["namespace"] or "", path["group"] or "", path["plural"], name, verb) for verb in _WATCH]


def _rules(wishes: Iterable[Wish]) -> Rules:
    """As few rules as possible: resources of a group with the same verbs share a rule."""
    verbs: dict[tuple[str, str, str], set[str]] = {}
    for _namespace, group, resource, name, verb in wishes:
        verbs.setdefault((group, resource, name), set()).add(verb)
    merged: dict[tuple[str, tuple[str, ...], bool], list[tuple[str, str]]] = {}
    for (group, resource, name), wanted in sorted(verbs.items()):
        merged.setdefault((group, tuple(sorted(wanted)), bool(name)), []).append((resource, name))
    rules: Rules = []
    for (group, wanted_verbs, is_named), resources in merged.items():
        rule = {"apiGroups": [group], "resources": sorted({resource for resource, _ in resources})}
        if is_named:
            rule["resourceNames"] = sorted({name for _, name in resources})
        rules.append({**rule, "verbs": list(wanted_verbs)})
    return rules
