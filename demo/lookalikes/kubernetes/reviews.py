"""Access reviews: SelfSubjectAccessReview, SubjectAccessReview and SelfSubjectReview."""

from demo.lookalikes.kubernetes.authorization import Attributes, Authorizer, Decision, User
from demo.lookalikes.kubernetes.errors import invalid
from demo.lookalikes.kubernetes.objects import Json, dig

# (group, version, plural) -> kind. A POST to one of these stores nothing.
REVIEWS: dict[tuple[str, str, str], str] = {
    ("authorization.k8s.io", "v1", "selfsubjectaccessreviews"): "SelfSubjectAccessReview",
    ("authorization.k8s.io", "v1", "subjectaccessreviews"): "SubjectAccessReview",
    ("authentication.k8s.io", "v1", "selfsubjectreviews"): "SelfSubjectReview",
}


def answered(authorizer: Authorizer, user: User, kind: str, review: Json) -> Json:
    """Return the review with its status, or refuse an incomplete one with 422."""
    if kind == "SelfSubjectReview":
        return {
            "kind": kind,
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {},
            "status": {"userInfo": {"username": user.name, "groups": list(user.groups)}},
        }
    spec = review.get("spec") or {}
    if kind == "SubjectAccessReview":
        user = User(spec.get("user", ""), tuple(spec.get("groups") or ()))
        if not user.name and not user.groups:
            text = "Required value: at least one of user or group must be specified"
            raise invalid(kind, "", "authorization.k8s.io", [("spec.user", "FieldValueInvalid", text)])
    decision = authorizer.decide(user, _attributes(kind, spec))
    return {
        "kind": kind,
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
        "status": _status(decision),
    }


def _attributes(kind: str, spec: Json) -> Attributes:
    if isinstance(path := dig(spec, "nonResourceAttributes"), dict):
        return Attributes(verb=path.get("verb", ""), path=path.get("path", ""))
    resource_attributes = dig(spec, "resourceAttributes")
    if not isinstance(resource_attributes, dict):
        text = "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"
        error = ("spec.resourceAttributes", "FieldValueInvalid", text)
        raise invalid(kind, "", "authorization.k8s.io", [error])
    resource = resource_attributes.get("resource", "")
    if resource_attributes.get("subresource"):
        resource = f"{resource}/{resource_attributes['subresource']}"
    return Attributes(
        verb=resource_attributes.get("verb", ""),
        group=resource_attributes.get("group", ""),
        resource=resource,
        namespace=resource_attributes.get("namespace", ""),
        name=resource_attributes.get("name", ""),
    )


def _status(decision: Decision) -> Json:
    return {"allowed": decision.allowed, **({"reason": decision.reason} if decision.reason else {})}
