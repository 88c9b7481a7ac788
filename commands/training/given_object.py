"""An object of a training's API in a YAML file, as it is: what must not be in it, each with its line. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from alerts.loading.yaml_nodes import ListNode, MapNode, ScalarNode, YamlNode
from collectors.facts.sentences import listed, sentence
from commands.core.command import UnusableError
from commands.core.request import Upload
from commands.training.queues import check_allowed
from commands.training.spec_checks import check_image
from commands.training.spec_file import Allowed
from commands.training.spec_nodes import SpecPart, whole
from commands.training.training_kinds import KINDS
from commands.training.writing_kind import WritingKind

# Fields of pods by which they reach what is not theirs, wherever they stand.
_FORBIDDEN = {
    "hostPath": sentence("a path of the host"),
    "hostNetwork": sentence("the network of the host"),
    "hostPID": sentence("the processes of the host"),
    "hostIPC": sentence("the memory of the host"),
    "hostPort": sentence("a port of the host"),
    "privileged": sentence("a privileged container"),
    "allowPrivilegeEscalation": sentence("more privileges"),
    "capabilities": sentence("capabilities of the kernel"),
    "procMount": sentence("the files of the kernel"),
    "securityContext": sentence("a security context"),
    "serviceAccountName": sentence("another account"),
    "serviceAccount": sentence("another account"),
    "nodeName": sentence("a node without the scheduler"),
    "secret": sentence("a Secret"),
    "secretRef": sentence("a Secret"),
    "secretKeyRef": sentence("a Secret"),
    "secretName": sentence("a Secret"),
    "projected": sentence("a token or a Secret"),
    "csi": sentence("a volume without a claim"),
    "flexVolume": sentence("a volume without a claim"),
    "nfs": sentence("a volume without a claim"),
    "iscsi": sentence("a volume without a claim"),
    "rbd": sentence("a volume without a claim"),
    "cephfs": sentence("a volume without a claim"),
    "glusterfs": sentence("a volume without a claim"),
    "azureFile": sentence("a volume without a claim"),
    "imagePullSecrets": sentence("a Secret"),
    "finalizers": sentence("finalizers"),
    "ownerReferences": sentence("an owner"),
    "managedBy": sentence("another controller"),
}
_QUEUES = ("queue", "scheduling.volcano.sh/queue-name", "volcano.sh/queue-name", "kueue.x-k8s.io/queue-name")
_IMAGES = ("image",)
_OF_METADATA = ("name", "namespace", "labels", "annotations")


def read_object(
    upload: Upload, name: str, namespace: str, allowed: Allowed
) -> tuple[WritingKind, dict[str, Any]]:
    """Return the object with its kind, whatever of it is the API server's to judge.

    Raises UnusableError with the line of what a training must not have, of a name that is not its own, or of a kind
    that is not launched here.
    """
    top = whole(upload.content, upload.name)
    fields = top.fields(("apiVersion", "kind", "metadata", "spec"))
    for key in ("apiVersion", "kind", "spec"):
        if key not in fields:
            raise top.wrong(sentence("It has no `{key}`.", key=key))
    api, kind_name = fields["apiVersion"].text(), fields["kind"].text()
    kind = next(
        (one for one in KINDS.values() if (one.objects.api, one.objects.kind) == (api, kind_name)), None
    )
    if kind is None or kind.launching is None:
        known = listed(f"{one.objects.kind} ({one.objects.api})" for one in KINDS.values() if one.launching)
        raise fields["kind"].wrong(
            sentence(
                "`{kind}` of `{api}` is not launched here: {known}.", kind=kind_name, api=api, known=known
            )
        )
    meta = fields["metadata"].fields(_OF_METADATA) if "metadata" in fields else {}
    for key, own in (("name", name), ("namespace", namespace)):
        if key in meta and meta[key].text() != own:
            raise meta[key].wrong(
                sentence("`{key}` must be `{own}`, as on the line, or left out.", key=key, own=own)
            )
    for part in _all(top):
        _check(part, allowed)
    tree: dict[str, Any] = {"apiVersion": api, "kind": kind_name, "spec": _plain(fields["spec"])}
    kept = {key: meta[key].texts() for key in ("labels", "annotations") if key in meta}
    return kind, {**tree, "metadata": {"name": name, "namespace": namespace, **kept}}


def _check(part: SpecPart, allowed: Allowed) -> None:
    if (what := _FORBIDDEN.get(part.name)) is not None:
        raise part.wrong(
            sentence("`{key}` asks for {what}, which no training may have.", key=part.name, what=what)
        )
    is_text = isinstance(part.node, ScalarNode)
    with part.located():
        if part.name in _IMAGES and is_text:
            check_image(part.text(), allowed.images)
        elif part.name in _QUEUES and is_text:
            check_allowed(part.text(), allowed.queues, allowed.teams)


def _all(part: SpecPart) -> Iterator[SpecPart]:
    """Yield every value that has a key, the outer ones first."""
    if isinstance(part.node, MapNode):
        for one in part.fields().values():
            yield one
            yield from _all(one)
    elif isinstance(part.node, ListNode):
        for one in part.items():
            yield from _all(one)


def _plain(part: SpecPart) -> Any:
    """Return a value as JSON has it. A number stays what it is written as."""
    node: YamlNode = part.node
    if isinstance(node, MapNode):
        return {key: _plain(one) for key, one in part.fields().items()}
    if isinstance(node, ListNode):
        return [_plain(one) for one in part.items()]
    match node.kind:
        case "null":
            return None
        case "bool":
            return part.is_true()
        case "int" if node.text.lstrip("+-").isdecimal():
            return int(node.text)
        case "float" | "int":
            return _number(part)
        case _:
            return part.text()


def _number(part: SpecPart) -> float:
    try:
        return float(part.text())
    except ValueError as error:
        raise part.wrong(sentence("`{name}` is not a decimal number.", name=part.name)) from error


def only_these(given: list[str], allowed: Mapping[str, object]) -> None:
    """Raise UnusableError for an option of the line that an object as it is leaves no room for."""
    names = [word.partition("=")[0] for word in given if word.startswith("--")]
    if odd := [name for name in names if name not in allowed]:
        raise UnusableError(
            sentence(
                "`{option}` does not go with `--from`: the object is created as it is. Write it there.",
                option=odd[0],
            )
        )
