"""Keys of workloads: kinds with their group, and with their version where that alone tells two kinds apart."""

import pytest

from collectors.cluster.indexes import kind_in_api
from collectors.cluster.kinds import MPIJOBS, MPIJOBS_V2BETA1
from collectors.facts.workload_keys import bare_kind, plain_workload, shown_kind


@pytest.mark.parametrize(
    ("kind", "api", "key", "shown"),
    [
        ("Job", "batch/v1", "Job", "Job"),
        ("Job", "batch.volcano.sh/v1alpha1", "Job.batch.volcano.sh", "Job.batch.volcano.sh"),
        ("JobSet", "jobset.x-k8s.io/v1alpha2", "JobSet.jobset.x-k8s.io", "JobSet"),
        ("MPIJob", "kubeflow.org/v1", "MPIJob.kubeflow.org", "MPIJob"),
        ("MPIJob", "kubeflow.org/v2beta1", "MPIJob.v2beta1.kubeflow.org", "MPIJob.v2beta1.kubeflow.org"),
        ("TFJob", "kubeflow.org/v2beta1", "TFJob.kubeflow.org", "TFJob"),
    ],
)
def test_a_version_stands_in_the_keys_of_a_kind_only_where_it_tells_it_from_another(
    kind: str, api: str, key: str, shown: str
) -> None:
    assert kind_in_api(kind, api) == key
    assert (shown_kind(key), bare_kind(key)) == (shown, kind)


def test_the_keys_that_rows_have_of_the_earlier_kind_are_still_its_keys() -> None:
    assert MPIJOBS.kind_in_keys == "MPIJob.kubeflow.org"
    assert plain_workload("vision/MPIJob.kubeflow.org/bert") == "vision/MPIJob/bert"
    one = MPIJOBS_V2BETA1
    assert (one.kind_in_keys, one.kind, one.group) == (
        "MPIJob.v2beta1.kubeflow.org",
        "MPIJob",
        "kubeflow.org",
    )
