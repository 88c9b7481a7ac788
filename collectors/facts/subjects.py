"""Subjects: what an alert is about."""

from dataclasses import dataclass, fields, replace

from collectors.facts.workload_keys import plain_workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What an alert is about. It alone decides grouping, permission and suggested actions; an empty field is unknown.

    The fields are also the placeholders of suggested actions (`{node}`) and the `by` of log searches. A training and a
    workload are their keys (`workload_keys.py`); what people read and type of them is in `words`. Where no cluster
    shows which training a label means, `training` is the name that the label has.
    """

    cluster: str = ""
    rack: str = ""
    node: str = ""
    gpu: str = ""  # index on its node, as nvidia-smi counts
    uuid: str = ""  # of the GPU
    namespace: str = ""
    pod: str = ""
    container: str = ""
    training: str = ""  # its key
    workload: str = ""  # the key of the top controller
    service: str = ""  # namespace/name
    volume: str = ""  # pool/image, or the PVC as namespace/name
    component: str = ""  # dns, ceph, kubelet, prometheus, ...
    owner: str = ""  # as named in the cluster
    team: str = ""
    training_name: str = ""  # what people read and type for the training; empty if that is `training` itself

    def words(self) -> dict[str, str]:
        """Return the known fields as people read and type them, in the order above."""
        known = {word: value for word in WORDS if (value := getattr(self, word))}
        if self.training:
            known["training"] = self.training_name or self.training
        if self.workload:
            known["workload"] = plain_workload(self.workload)
        return known

    def without(self, *fields_: str) -> "Subject":
        """Return this subject with these fields unknown."""
        named = ("training_name",) if "training" in fields_ else ()
        return replace(self, **dict.fromkeys((*fields_, *named), ""))

    def or_else(self, other: "Subject") -> "Subject":
        """Return this subject with its unknown fields taken from `other`, and the keys of what it only names."""
        missing = {
            word: value for word in WORDS if (value := getattr(other, word)) and not getattr(self, word)
        }
        if other.training and self.training in ("", other.training_name):
            missing |= {"training": other.training, "training_name": other.training_name}
        elif self.training == other.training and not self.training_name and other.training_name:
            missing["training_name"] = other.training_name
        if other.workload != self.workload == plain_workload(other.workload) and self.workload:
            missing["workload"] = other.workload
        return replace(self, **missing) if missing else self


WORDS = tuple(f.name for f in fields(Subject) if f.name != "training_name")
