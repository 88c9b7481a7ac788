"""Validation of objects, for the errors that the real server is likely to report."""

import re
from collections.abc import Iterator
from typing import Any

from demo.lookalikes.kubernetes.errors import RefusedError, bad_request, invalid
from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.objects import Json, dig, labels_of, metadata, name_of
from demo.lookalikes.kubernetes.quantities import quantity
from demo.lookalikes.kubernetes.selectors import selector_test

FieldError = tuple[str, str, str]  # field, reason of the cause, text

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_FORMS = {
    "subdomain": (
        re.compile(_SUBDOMAIN),
        253,
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
        "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        f"'{_SUBDOMAIN}')",
    ),
    "label": (
        re.compile(_LABEL),
        63,
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and "
        "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        f"'{_LABEL}')",
    ),
    "label1035": (
        re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?"),
        63,
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
        "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ),
    "segment": (re.compile(r"[^/%]+"), 253, "may not contain '/' or '%'"),
}
_NAME_FORM = {"namespaces": "label", "services": "label1035"}
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_LABEL_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_TEMPLATED = ("deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_DEVICE_EFFECTS = ("NoExecute", "NoSchedule", "None")


def check(kind: Kind, tree: Json, old: Json | None = None) -> None:
    """Refuse an invalid object with 422, or with 400 when its quantities cannot be parsed."""
    errors = [*_metadata_errors(kind, tree), *_spec_errors(kind, tree)]
    if old is not None:
        errors += _update_errors(kind, tree, old)
    if errors:
        raise invalid(kind.kind, name_of(tree), kind.group, errors)


def _required(field: str, text: str = "") -> FieldError:
    return (field, "FieldValueRequired", "Required value" + (f": {text}" if text else ""))


def _invalid(field: str, value: Any, text: str) -> FieldError:
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    return (field, "FieldValueInvalid", f"Invalid value: {shown}: {text}")


def _metadata_errors(kind: Kind, tree: Json) -> Iterator[FieldError]:
    name = name_of(tree)
    if not name:
        yield _required("metadata.name", "name or generateName is required")
        return
    form = (
        "segment" if kind.group == "rbac.authorization.k8s.io" else _NAME_FORM.get(kind.listing, "subdomain")
    )
    pattern, longest, text = _FORMS[form]
    if not pattern.fullmatch(name):
        yield _invalid("metadata.name", name, text)
    elif len(name) > longest:
        yield (
            "metadata.name",
            "FieldValueInvalid",
            f'Invalid value: "{name}": must be no more than {longest} bytes',
        )
    for value in labels_of(tree).values():
        if not isinstance(value, str):
            text = (
                f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: json: cannot '
            )
            raise bad_request(
                f"{text}unmarshal into Go struct field ObjectMeta.metadata.labels of type string"
            )
        if len(value) > 63:
            yield _invalid("metadata.labels", value, "must be no more than 63 bytes")
        elif not _LABEL_VALUE.fullmatch(value):
            yield _invalid("metadata.labels", value, _LABEL_VALUE_TEXT)


def _spec_errors(kind: Kind, tree: Json) -> Iterator[FieldError]:
    if kind.custom:
        return
    spec = tree.get("spec")
    if spec is not None and not isinstance(spec, dict):
        raise bad_request(f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: json: cannot '
                          f"unmarshal into Go struct field {kind.kind}.spec")  # fmt: skip
    spec = spec or {}
    replicas = spec.get("replicas")
    if isinstance(replicas, int) and replicas < 0:
        yield _invalid("spec.replicas", replicas, "must be greater than or equal to 0")
    match kind.listing:
        case "pods":
            yield from _pod_errors(kind, spec, "spec")
        case "devicetaintrules.resource.k8s.io":
            yield from _device_taint_errors(spec)
        case "services":
            external, headless = spec.get("type") == "ExternalName", spec.get("clusterIP") == "None"
            if not spec.get("ports") and not external and not headless:
                yield _required("spec.ports")
        case "nodes":
            for index, taint in enumerate(spec.get("taints") or ()):
                if taint.get("effect") not in _EFFECTS:
                    supported = ", ".join(f'"{effect}"' for effect in _EFFECTS)
                    yield (
                        f"metadata.taints[{index}].effect",
                        "FieldValueNotSupported",
                        f'Unsupported value: "{taint.get("effect", "")}": supported values: {supported}',
                    )
        case listing if listing in _TEMPLATED:
            yield from _workload_errors(kind, spec)
        case _:
            pass


def _workload_errors(kind: Kind, spec: Json) -> Iterator[FieldError]:
    template = spec.get("template") or {}
    if kind.plural == "jobs":
        restart = dig(template, "spec", "restartPolicy")
        if restart not in ("OnFailure", "Never"):
            yield _required("spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')
        for field in ("parallelism", "completions", "backoffLimit", "activeDeadlineSeconds"):
            if isinstance(spec.get(field), int) and spec[field] < 0:
                yield _invalid(f"spec.{field}", spec[field], "must be greater than or equal to 0")
        if spec.get("completionMode") == "Indexed" and spec.get("completions") is None:
            yield _required("spec.completions", "when completion mode is Indexed")
    else:
        selector = spec.get("selector")
        if not selector:
            yield _required("spec.selector")
        else:
            labels = dig(template, "metadata", "labels") or {}
            if not selector_test(selector)(labels):
                shown = "{" + ",".join(f'"{key}":"{value}"' for key, value in sorted(labels.items())) + "}"
                yield (
                    "spec.template.metadata.labels",
                    "FieldValueInvalid",
                    f"Invalid value: {shown}: `selector` does not match template `labels`",
                )
    yield from _pod_errors(kind, template.get("spec") or {}, "spec.template.spec")


def _pod_errors(kind: Kind, spec: Json, path: str) -> Iterator[FieldError]:
    containers = spec.get("containers") or []
    if not containers:
        yield _required(f"{path}.containers")
    seen: set[str] = set()
    for field in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(field) or ()):
            field_path = f"{path}.{field}[{index}]"
            name = container.get("name", "")
            if not name:
                yield _required(f"{field_path}.name")
            elif not _FORMS["label"][0].fullmatch(name):
                yield _invalid(f"{field_path}.name", name, _FORMS["label"][2])
            elif name in seen:
                yield (f"{field_path}.name", "FieldValueDuplicate", f'Duplicate value: "{name}"')
            seen.add(name)
            if not container.get("image"):
                yield _required(f"{field_path}.image")
            yield from _resource_errors(kind, container.get("resources") or {}, f"{field_path}.resources")


def _resource_errors(kind: Kind, resources: Json, path: str) -> Iterator[FieldError]:
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for amounts in (requests, limits):
        for amount in amounts.values():
            try:
                quantity(amount)
            except ValueError as error:
                text = f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {error}'
                raise bad_request(text) from error
    for name, amount in requests.items():
        limit = limits.get(name)
        if "/" in name:
            if quantity(amount) % 1:
                yield _invalid(f"{path}.requests[{name}]", str(amount), "must be an integer")
            elif limit is None:
                yield _required(f"{path}.limits", "Limit must be set for non overcommitable resources")
            elif quantity(limit) != quantity(amount):
                text = f"must be equal to {name} limit of {limit}"
                yield _invalid(f"{path}.requests", str(amount), text)
        elif limit is not None and quantity(amount) > quantity(limit):
            text = f"must be less than or equal to {name} limit of {limit}"
            yield _invalid(f"{path}.requests", str(amount), text)


def _device_taint_errors(spec: Json) -> Iterator[FieldError]:
    taint = spec.get("taint") or {}
    if not taint.get("key"):
        yield _invalid("spec.taint.key", taint.get("key", ""), "name part must be non-empty")
    if (effect := taint.get("effect", "")) not in _DEVICE_EFFECTS:
        shown = ", ".join(f'"{one}"' for one in _DEVICE_EFFECTS)
        yield (
            "spec.taint.effect",
            "FieldValueNotSupported",
            f'Unsupported value: "{effect}": supported values: {shown}',
        )


_POD_TEXT = (
    "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def _update_errors(kind: Kind, tree: Json, old: Json) -> Iterator[FieldError]:
    new_spec, old_spec = tree.get("spec") or {}, old.get("spec") or {}
    if new_spec == old_spec or kind.custom:
        return
    if kind.listing == "pods" and _masked(new_spec) != _masked(old_spec):
        yield ("spec", "FieldValueForbidden", _POD_TEXT)
    frozen: tuple[str, ...] = ()
    if kind.listing == "jobs.batch":
        frozen = ("selector", "completionMode", *(() if old_spec.get("suspend") else ("template",)))
        if new_spec.get("completions") != old_spec.get("completions") and (
            old_spec.get("completionMode") != "Indexed"
            or new_spec.get("completions") != new_spec.get("parallelism")
        ):
            frozen = (*frozen, "completions")
    elif kind.group == "apps":
        frozen = ("selector",)
    for field in frozen:
        if new_spec.get(field) != old_spec.get(field):
            yield _invalid(f"spec.{field}", new_spec.get(field), "field is immutable")


def _masked(spec: Json) -> Json:
    masked = {k: v for k, v in spec.items() if k not in ("activeDeadlineSeconds", "tolerations")}
    for field in ("containers", "initContainers"):
        if field in masked:
            masked[field] = [{k: v for k, v in c.items() if k != "image"} for c in masked[field]]
    return masked


def checked_metadata(tree: Any) -> Json:
    """Return the metadata of the object, or refuse with 400 when it cannot be decoded."""
    if not isinstance(tree, dict):
        raise bad_request(
            "the object provided is unrecognized (must be of type Object): couldn't get version/kind"
        )
    meta = tree.get("metadata", {})
    if not isinstance(meta, dict):
        raise RefusedError(
            400, "BadRequest", "json: cannot unmarshal into Go struct field .metadata of type v1.ObjectMeta"
        )
    for field in ("labels", "annotations"):
        if meta.get(field) is not None and not isinstance(meta[field], dict):
            raise bad_request(f"json: cannot unmarshal into Go struct field ObjectMeta.metadata.{field}")
    return metadata(tree)
