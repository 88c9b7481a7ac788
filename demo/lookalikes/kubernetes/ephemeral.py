"""Checks of ephemeral containers: those of a pod stay as they are, and new ones have defaults."""

from demo.lookalikes.kubernetes.errors import invalid
from demo.lookalikes.kubernetes.objects import Json, dig, name_of, with_value

_DEFAULTS: Json = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "IfNotPresent",
}


def with_ephemeral_containers(old: Json, new: Json) -> Json:
    """Return the old pod with the new one's ephemeral containers, or refuse with 422 if one of the old is changed."""
    before = {one["name"]: one for one in dig(old, "spec", "ephemeralContainers") or ()}
    wanted = [{**_DEFAULTS, **one} for one in dig(new, "spec", "ephemeralContainers") or ()]
    names = [one["name"] for one in wanted]
    errors = [
        (
            "spec.ephemeralContainers",
            "FieldValueForbidden",
            "Forbidden: existing ephemeral containers may not be removed",
        )
        for name in before
        if name not in names
    ]
    errors += [
        (
            f"spec.ephemeralContainers[{index}]",
            "FieldValueForbidden",
            "Forbidden: existing ephemeral containers may not be changed",
        )
        for index, one in enumerate(wanted)
        if one["name"] in before and before[one["name"]] != one
    ]
    targets = {one["name"] for one in dig(old, "spec", "containers") or ()}
    errors += [
        (
            f"spec.ephemeralContainers[{index}].targetContainerName",
            "FieldValueNotFound",
            f'Not found: "{one["targetContainerName"]}"',
        )
        for index, one in enumerate(wanted)
        if one.get("targetContainerName") and one["targetContainerName"] not in targets
    ]
    if errors:
        raise invalid("Pod", name_of(old), "", errors)
    return with_value(old, ("spec", "ephemeralContainers"), wanted)
