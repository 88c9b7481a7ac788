"""Subjects: what an alert is about."""

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What an alert is about. It alone decides grouping, permission and suggested actions; an empty field is unknown.

    The fields are also the placeholders of suggested actions (`{node}`) and the `by` of log searches.
    """

    cluster: str = ""
    rack: str = ""
    node: str = ""
    gpu: str = ""  # index on its node, as nvidia-smi counts
    uuid: str = ""  # of the GPU
    namespace: str = ""
    pod: str = ""
    container: str = ""
    training: str = ""  # namespace/name
    workload: str = ""  # namespace/kind/name of the top controller
    service: str = ""  # namespace/name
    volume: str = ""  # pool/image, or the PVC as namespace/name
    component: str = ""  # dns, ceph, kubelet, prometheus, ...
    owner: str = ""  # as named in the cluster
    team: str = ""

    def words(self) -> dict[str, str]:
        """Return the known fields, in the order above."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name))}

    def without(self, *fields_: str) -> "Subject":
        """Return this subject with these fields unknown."""
        return replace(self, **dict.fromkeys(fields_, ""))

    def or_else(self, other: "Subject") -> "Subject":
        """Return this subject with its unknown fields taken from `other`."""
        missing = {name: value for name, value in other.words().items() if not getattr(self, name)}
        return replace(self, **missing) if missing else self


WORDS = tuple(f.name for f in fields(Subject))
