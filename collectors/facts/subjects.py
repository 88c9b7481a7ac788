"""This file has subjects: what an alert is about, in our own words."""

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What an alert is about. Only subjects decide folding, permission and offers; an empty word is not known.

    The words are also the placeholders of offers (`{node}`) and the `by` of log searches.
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
    volume: str = ""  # pool/image, or the claim as namespace/name
    component: str = ""  # dns, ceph, kubelet, prometheus, ...
    owner: str = ""  # whose it is, as the cluster names them
    team: str = ""

    def words(self) -> dict[str, str]:
        """The words that are known, in the order above."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name))}

    def or_else(self, other: "Subject") -> "Subject":
        """This subject, with what it does not know taken from `other`."""
        missing = {name: value for name, value in other.words().items() if not getattr(self, name)}
        return replace(self, **missing) if missing else self


WORDS = tuple(f.name for f in fields(Subject))
