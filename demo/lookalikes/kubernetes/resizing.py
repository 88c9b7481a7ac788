"""Checks of a pod resize: only CPU and memory change, no limit is removed, and the QoS class stays."""

from demo.lookalikes.kubernetes.defaults import qos_class
from demo.lookalikes.kubernetes.errors import invalid
from demo.lookalikes.kubernetes.objects import Json, dig, name_of, with_value
from demo.lookalikes.kubernetes.quantities import quantity

_MUTABLE = ("cpu", "memory")


def check_resize(old: Json, new: Json) -> Json:
    """Return the old pod with the new containers' resources, or refuse with 422 what must not change."""
    errors: list[tuple[str, str, str]] = []
    wanted = {c["name"]: c for c in dig(new, "spec", "containers") or ()}
    containers = []
    for index, container in enumerate(old["spec"]["containers"]):
        resources = (wanted.get(container["name"]) or container).get("resources") or {}
        errors += _field_errors(
            container.get("resources") or {}, resources, f"spec.containers[{index}].resources"
        )
        containers.append({**container, "resources": resources})
    resized = with_value(old, ("spec", "containers"), containers)
    if not errors and qos_class(resized["spec"]) != qos_class(old["spec"]):
        text = "Invalid value: null: Pod QOS Class may not change as a result of resizing"
        errors.append(("spec", "FieldValueInvalid", text))
    if not errors and not _supported(old):
        text = "Forbidden: Pod running on node without support for resize"
        errors.append(("spec", "FieldValueForbidden", text))
    if errors:
        raise invalid("Pod", name_of(old), "", errors)
    return resized


def _supported(pod: Json) -> bool:
    statuses = dig(pod, "status", "containerStatuses") or ()
    running = [s for s in statuses if dig(s, "state", "running") is not None]
    return all("resources" in status for status in running)


def _field_errors(old: Json, new: Json, path: str) -> list[tuple[str, str, str]]:
    errors = []
    for side in ("limits", "requests"):
        before, after = old.get(side) or {}, new.get(side) or {}
        for name in {*before, *after} - set(_MUTABLE):
            if before.get(name) != after.get(name):
                errors.append(
                    (path, "FieldValueForbidden", "Forbidden: only cpu and memory resources are mutable")
                )
                break
        removed = [name for name in _MUTABLE if name in before and name not in after]
        if removed:
            text = f"Forbidden: resource {side} cannot be removed"
            errors.append((f"{path}.{side}", "FieldValueForbidden", text))
    for name in _MUTABLE:
        request, limit = (new.get("requests") or {}).get(name), (new.get("limits") or {}).get(name)
        if request is not None and limit is not None and quantity(request) > quantity(limit):
            text = f'Invalid value: "{request}": must be less than or equal to {name} limit of {limit}'
            errors.append((f"{path}.requests", "FieldValueInvalid", text))
    return errors
