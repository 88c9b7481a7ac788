"""This file answers the reviews: may I, may they, who am I."""

from __future__ import annotations

from demo.lookalikes.kubernetes.authorization import Attributes, Authorizer, User, Verdict
from demo.lookalikes.kubernetes.errors import invalid
from demo.lookalikes.kubernetes.objects import Json, dig

# (group, version, plural) -> kind; a POST to one of these is answered and nothing is kept.
REVIEWS: dict[tuple[str, str, str], str] = {
    ("authorization.k8s.io", "v1", "selfsubjectaccessreviews"): "SelfSubjectAccessReview",
    ("authorization.k8s.io", "v1", "subjectaccessreviews"): "SubjectAccessReview",
    ("authentication.k8s.io", "v1", "selfsubjectreviews"): "SelfSubjectReview",
}


def answered(authorizer: Authorizer, user: User, kind: str, review: Json) -> Json:
    """Return the review with its status; refuses with 422 one that asks nothing."""
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
    verdict = authorizer.decide(user, _deed(kind, spec))
    return {
        "kind": kind,
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
        "status": _status(verdict),
    }


def _deed(kind: str, spec: Json) -> Attributes:
    if isinstance(path := dig(spec, "nonResourceAttributes"), dict):
        return Attributes(verb=path.get("verb", ""), path=path.get("path", ""))
    asked = dig(spec, "resourceAttributes")
    if not isinstance(asked, dict):
        text = "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"
        fault = ("spec.resourceAttributes", "FieldValueInvalid", text)
        raise invalid(kind, "", "authorization.k8s.io", [fault])
    resource = asked.get("resource", "")
    if asked.get("subresource"):
        resource = f"{resource}/{asked['subresource']}"
    return Attributes(
        verb=asked.get("verb", ""),
        group=asked.get("group", ""),
        resource=resource,
        namespace=asked.get("namespace", ""),
        name=asked.get("name", ""),
    )


def _status(verdict: Verdict) -> Json:
    return {"allowed": verdict.allowed, **({"reason": verdict.reason} if verdict.reason else {})}
