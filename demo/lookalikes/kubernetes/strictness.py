"""Strict field validation of the first two levels of an object."""

from demo.lookalikes.kubernetes.errors import RefusedError, bad_request
from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.objects import Json, name_of

_TOP = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})
# The spec fields of the most written kinds. Other kinds are not checked.
_SPECS: dict[str, frozenset[str]] = {
    "nodes": frozenset({"configSource", "externalID", "podCIDR", "podCIDRs", "providerID", "taints", "unschedulable"}),
    "deployments.apps": frozenset(
        {
            "minReadySeconds", "paused", "progressDeadlineSeconds", "replicas", "revisionHistoryLimit", "selector",
            "strategy", "template",
        }
    ),
    "jobs.batch": frozenset(
        {
            "activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "completionMode", "completions",
            "managedBy", "manualSelector", "maxFailedIndexes", "parallelism", "podFailurePolicy",
            "podReplacementPolicy", "selector", "successPolicy", "suspend", "template", "ttlSecondsAfterFinished",
        }
    ),
    "services": frozenset(
        {
            "allocateLoadBalancerNodePorts", "clusterIP", "clusterIPs", "externalIPs", "externalName",
            "externalTrafficPolicy", "healthCheckNodePort", "internalTrafficPolicy", "ipFamilies", "ipFamilyPolicy",
            "loadBalancerClass", "loadBalancerIP", "loadBalancerSourceRanges", "ports", "publishNotReadyAddresses",
            "selector", "sessionAffinity", "sessionAffinityConfig", "trafficDistribution", "type",
        }
    ),
}  # fmt: skip


def check_known_fields(kind: Kind, tree: Json, *, patched: bool = False) -> None:
    """Refuse an object with unknown fields as the real server does: 400 for a whole object, 422 for a patched one."""
    known = _SPECS.get(kind.listing)
    if known is None or kind.custom:
        return
    unknown = [key for key in tree if key not in _TOP]
    unknown += [f"spec.{key}" for key in tree.get("spec") or {} if key not in known]
    if not unknown:
        return
    errors = ", ".join(f'unknown field "{field}"' for field in unknown)
    if not patched:
        raise bad_request(f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: '
                          f"strict decoding error: {errors}")  # fmt: skip
    message = f' "" is invalid: patch: Invalid value: "{name_of(tree)}": strict decoding error: {errors}'
    raise RefusedError(422, "Invalid", message, details={"causes": [
        {"reason": "FieldValueInvalid", "message": f"strict decoding error: {errors}", "field": "patch"}]})  # fmt: skip
