"""The three kinds of patch: JSON patch, merge patch and strategic merge patch."""

from typing import Any

from demo.lookalikes.kubernetes.errors import RefusedError, bad_request
from demo.lookalikes.kubernetes.objects import Json

# The patchMergeKey of each list in the real types. Lists that are not here are replaced, such as taints,
# tolerations, command, args, containerStatuses and every list of a custom resource.
_MERGE_KEYS: dict[str, str] = {
    "addresses": "type",
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
_SETS = frozenset({"finalizers", "podCIDRs"})  # lists of plain values that are merged as sets
# Objects of which a patch may name all the keys that shall stay.
_DELETE_PRIMITIVES = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"
_RETAIN = "$retainKeys"


class _CannotApplyError(Exception):
    """A JSON patch that cannot be applied."""


def json_patch(tree: Json, operations: Any) -> Json:
    """Return the tree after the operations (RFC 6902), or refuse with 422 when one of them cannot be applied."""
    if not isinstance(operations, list):
        raise bad_request("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    result: Any = tree
    try:
        for operation in operations:
            result = _apply(result, operation)
    except (_CannotApplyError, KeyError, TypeError, ValueError, IndexError) as error:
        message = "the server rejected our request due to an error in our request"
        raise RefusedError(422, "Invalid", message) from error
    if not isinstance(result, dict):
        raise bad_request("the patch leaves no object")
    return result


def _steps(pointer: str) -> list[str]:
    if pointer == "":
        return []
    if not pointer.startswith("/"):
        raise _CannotApplyError(pointer)
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/")]


def _at(tree: Any, steps: list[str]) -> Any:
    for step in steps:
        tree = tree[int(step)] if isinstance(tree, list) else tree[step]
    return tree


def _apply(tree: Any, operation: Json) -> Any:
    steps = _steps(operation["path"])
    match operation["op"]:
        case "test":
            if _at(tree, steps) != operation.get("value"):
                raise _CannotApplyError("test")
            return tree
        case "add":
            return _added(tree, steps, operation["value"])
        case "remove":
            return _removed(tree, steps)
        case "replace":
            _at(tree, steps)
            return _replaced(tree, steps, operation["value"])
        case "copy":
            return _added(tree, steps, _at(tree, _steps(operation["from"])))
        case "move":
            source = _steps(operation["from"])
            return _added(_removed(tree, source), steps, _at(tree, source))
        case unknown:
            raise _CannotApplyError(unknown)


def _changed(tree: Any, step: str, value: Any) -> Any:
    if isinstance(tree, list):
        return [value if position == int(step) else item for position, item in enumerate(tree)]
    return {**tree, step: value}


def _replaced(tree: Any, steps: list[str], value: Any) -> Any:
    if not steps:
        return value
    return _changed(tree, steps[0], _replaced(_at(tree, steps[:1]), steps[1:], value))


def _added(tree: Any, steps: list[str], value: Any) -> Any:
    if not steps:
        return value
    if len(steps) > 1:
        return _changed(tree, steps[0], _added(_at(tree, steps[:1]), steps[1:], value))
    if isinstance(tree, list):
        position = len(tree) if steps[0] == "-" else int(steps[0])
        if not 0 <= position <= len(tree):
            raise _CannotApplyError("index")
        return [*tree[:position], value, *tree[position:]]
    return {**tree, steps[0]: value}


def _removed(tree: Any, steps: list[str]) -> Any:
    if len(steps) > 1:
        return _changed(tree, steps[0], _removed(_at(tree, steps[:1]), steps[1:]))
    _at(tree, steps)
    if isinstance(tree, list):
        return [item for position, item in enumerate(tree) if position != int(steps[0])]
    return {key: value for key, value in tree.items() if key != steps[0]}


def merge_patch(tree: Any, patch: Any) -> Any:
    """Return the tree after a merge patch (RFC 7386): null removes a key, lists are replaced."""
    if not isinstance(patch, dict):
        return patch
    result = dict(tree) if isinstance(tree, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def strategic_merge_patch(tree: Any, patch: Json) -> Json:
    """Return the tree after a strategic merge patch, with its directives such as `$patch`."""
    match patch.get("$patch"):
        case "replace":
            return {key: value for key, value in patch.items() if key != "$patch"}
        case "delete":
            return {}
        case None | "merge":
            pass
        case unknown:
            raise bad_request(f"Unknown directive: {unknown}")
    result: Json = dict(tree) if isinstance(tree, dict) else {}
    if _RETAIN in patch:
        result = {key: value for key, value in result.items() if key in patch[_RETAIN]}
    for key, value in patch.items():
        if key in ("$patch", _RETAIN) or key.startswith(_ORDER):
            continue
        if key.startswith(_DELETE_PRIMITIVES):
            field = key.removeprefix(_DELETE_PRIMITIVES)
            result[field] = [item for item in result.get(field) or () if item not in value]
        elif value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            result[key] = strategic_merge_patch(result.get(key), value)
        elif isinstance(value, list):
            result[key] = _merged_list(key, result.get(key), value)
        else:
            result[key] = value
    return result


def _merged_list(field: str, old: Any, patch: list[Any]) -> list[Any]:
    old = old if isinstance(old, list) else []
    if field in _SETS:
        return [*old, *(item for item in patch if item not in old)]
    key = _merge_key(field, patch)
    if any(isinstance(item, dict) and item == {"$patch": "replace"} for item in patch):
        return [item for item in patch if item != {"$patch": "replace"}]
    if key is None:
        return patch
    result = list(old)
    for item in patch:
        if key not in item:
            raise bad_request(f"map: {item} does not contain declared merge key: {key}")
        position = next((i for i, kept in enumerate(result) if kept.get(key) == item[key]), None)
        if item.get("$patch") == "delete":
            result = [kept for kept in result if kept.get(key) != item[key]]
        elif position is None:
            result.append(strategic_merge_patch({}, item))
        else:
            result[position] = strategic_merge_patch(result[position], item)
    return result


def _merge_key(field: str, patch: list[Any]) -> str | None:
    if field == "ports":  # of a container, a service, or endpoints (which have no merge key)
        first = next((item for item in patch if isinstance(item, dict)), {})
        return next((key for key in ("containerPort", "port") if key in first), None)
    return _MERGE_KEYS.get(field)
