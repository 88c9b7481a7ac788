"""Access in Kubernetes: who a person is there, and what somebody may do."""

from dataclasses import dataclass

from commands.execution.object_refs import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesUser:
    """Who a person is in Kubernetes."""

    user: str
    groups: tuple[str, ...] = ()

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        return (("Impersonate-User", self.user), *(("Impersonate-Group", group) for group in self.groups))


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Access:
    """One verb on one resource, as RBAC counts. No name: of all objects."""

    group: str
    resource: str
    verb: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        what = f"{self.verb} {resource} {self.name}".rstrip()
        return f"{what} -n {self.namespace}" if self.namespace else what

    def review(self) -> dict[str, JsonValue]:
        """Return the question whether who asks has this access."""
        resource, _, subresource = self.resource.partition("/")
        attributes = {
            "verb": self.verb,
            "group": self.group,
            "resource": resource,
            "subresource": subresource,
            "namespace": self.namespace,
            "name": self.name,
        }
        given = {key: value for key, value in attributes.items() if value}
        return {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": given},
        }
