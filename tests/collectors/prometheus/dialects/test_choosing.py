"""The choice of labels by the values of series."""

from collections.abc import Mapping

import pytest

from collectors.facts.labels import Labels
from collectors.sources.prometheus.dialects.choosing import Dialect, Overrides, choose
from collectors.sources.prometheus.dialects.families import (
    DCGM,
    KUBE_STATE_METRICS,
    NODE_EXPORTER,
    Family,
    Role,
)
from collectors.sources.prometheus.dialects.node_names import NodeNames
from tests.support.gpu_dialects import TEN, GpuNode, topology_of

NODES = NodeNames(topology_of)
BY_NAME = {one.name: one for one in TEN}


def series_of(*nodes: GpuNode, job: str = "dcgm-exporter") -> list[Labels]:
    return [Labels(one.labels(gpu, job=job)) for one in nodes for gpu in (0, 1)]


def chosen(series: list[Labels], *, family: Family = DCGM, overrides: Overrides | None = None) -> Dialect:
    return choose(family, series, nodes=NODES, overrides=overrides)


@pytest.mark.parametrize(
    ("name", "nodes", "pods"),
    [
        ("gpu-std", ("Hostname",), ("pod",)),
        ("gpu-op", ("Hostname",), ("exported_pod",)),
        ("gpu-ipp", ("instance",), ("exported_pod",)),
        ("gpu-iph", ("instance",), ("pod",)),
        ("gpu-kn", ("kubernetes_node", "Hostname", "instance"), ("pod",)),
        ("gpu-nl", ("node", "instance"), ("exported_pod",)),
        ("gpu-hn", ("Hostname", "instance"), ("exported_pod",)),
        ("gpu-low", ("hostname", "instance"), ("pod",)),
        ("gpu-fqdn", ("Hostname", "instance"), ("pod_name",)),
    ],
)
def test_the_labels_of_each_dialect(name: str, nodes: tuple[str, ...], pods: tuple[str, ...]) -> None:
    labels = chosen(series_of(BY_NAME[name])).labels
    assert (labels[Role.NODE], labels[Role.POD]) == (nodes, pods)


def test_the_dialect_of_the_packs_is_left_as_it_is() -> None:
    (group,) = chosen(series_of(BY_NAME["gpu-op"])).groups
    assert group.matchers == ()
    assert all(one.is_plain for one in group.labels)


def test_a_label_in_no_list_counts_when_its_values_are_nodes() -> None:
    series = [one.with_(machine=one["Hostname"], Hostname="") for one in series_of(BY_NAME["gpu-op"])]
    assert chosen(series).labels[Role.NODE] == ("machine", "instance")


def test_labels_in_no_list_name_the_pod_when_their_values_are_pods() -> None:
    renamed = [
        one.without("exported_pod", "exported_namespace", "exported_container").with_(
            workload=one.get("exported_pod", ""), project=one.get("exported_namespace", "")
        )
        for one in series_of(BY_NAME["gpu-op"])
    ]
    labels = chosen(renamed).labels
    assert (labels[Role.POD], labels[Role.NAMESPACE]) == (("workload",), ("project",))


def test_a_usual_label_with_another_meaning_does_not_name_the_node() -> None:
    series = [one.with_(node="eu-west") for one in series_of(BY_NAME["gpu-hn"])]
    assert chosen(series).labels[Role.NODE] == ("Hostname", "instance")


def test_jobs_that_mean_different_things_by_a_label_are_selected_apart() -> None:
    meant = series_of(BY_NAME["gpu-nl"], job="a")
    other = [one.with_(node="rack-4") for one in series_of(BY_NAME["gpu-hn"], job="b")]
    named = {
        str(group.matchers[0]): next(one.names for one in group.labels if one.label == "Hostname")
        for group in chosen([*meant, *other]).groups
    }
    assert named == {'job!~"b"': ("node", "instance"), 'job=~"b"': ("Hostname", "instance")}


def test_the_exporters_own_pod_is_not_a_workload_whatever_its_name() -> None:
    series = [one.with_(pod="gpumon-x2x4q") for one in series_of(BY_NAME["gpu-op"])]
    assert chosen(series).labels[Role.POD] == ("exported_pod",)
    idle = [one for one in series if "exported_pod" not in one]
    both = chosen([*idle, *series, *series_of(BY_NAME["gpu-std"])])
    (never,) = {one.never for group in both.groups for one in group.labels if one.label == "exported_pod"}
    assert "gpumon" in never


def test_series_without_any_name_of_their_node_are_a_problem() -> None:
    series = [one.with_(instance="172.16.0.1:9400") for one in series_of(BY_NAME["gpu-ipp"])]
    found = chosen(series)
    assert found.problem == (
        'no label of dcgm-exporter\'s series names a node, only instance="172.16.0.1:9400": '
        "set prometheus.labels"
    )
    assert chosen(series, overrides={Role.NODE: ("rack",)}).problem == ""


def test_hosts_that_the_cluster_does_not_know_are_not_a_problem() -> None:
    series = [
        one.with_(Hostname="bare-metal-1", instance="172.16.0.1:9400") for one in series_of(BY_NAME["gpu-op"])
    ]
    found = chosen(series)
    assert (found.problem, found.labels[Role.NODE]) == ("", ("Hostname", "instance"))


def test_without_a_cluster_the_usual_labels_are_believed_but_not_an_exporters_pod() -> None:
    series = series_of(BY_NAME["gpu-kn"])
    assert choose(DCGM, series, nodes=None).labels[Role.NODE] == ("kubernetes_node", "instance")
    assert choose(DCGM, series_of(BY_NAME["gpu-op"]), nodes=None).labels[Role.NODE] == ("Hostname",)


def test_the_labels_of_the_settings_are_not_compared() -> None:
    found = chosen(
        series_of(BY_NAME["gpu-std"]), overrides={Role.NODE: ("modelName",), Role.POD: ("device",)}
    )
    assert (found.labels[Role.NODE], found.labels[Role.POD]) == (("modelName",), ("device",))


KSM = Labels({"job": "k", "namespace": "monitoring", "pod": "kube-state-metrics-0", "node": "gpu-op"})


def test_where_labels_are_not_honoured_the_plain_ones_are_the_scrapes_own() -> None:
    series = [
        KSM.with_(exported_node="gpu-std"),
        KSM.with_(exported_namespace="team", exported_pod="train-0"),
    ]
    found = chosen(series, family=KUBE_STATE_METRICS).labels
    assert found[Role.NODE] == ("exported_node",)
    assert found[Role.POD] == ("exported_pod",)


def test_where_labels_are_honoured_nothing_changes() -> None:
    honoured = Labels({"job": "k", "namespace": "team", "pod": "train-0", "node": "gpu-op"})
    (group,) = chosen([honoured], family=KUBE_STATE_METRICS).groups
    assert all(one.is_plain for one in group.labels)


HOSTS = (BY_NAME["gpu-std"], BY_NAME["gpu-op"])


def host_series(labels: Mapping[str, str], *, job: str = "node-exporter") -> list[Labels]:
    """Series of a node_exporter on each host; `{name}` and `{host}` are its own."""
    return [
        Labels(
            {"job": job, **{key: text.format(name=one.name, host=one.host) for key, text in labels.items()}}
        )
        for one in HOSTS
    ]


@pytest.mark.parametrize(
    "labels",
    [
        {"instance": "{host}:9100"},
        {"instance": "{name}:9100", "nodename": "{name}"},
        {"instance": "{host}:9100", "node": "{name}"},
        {"instance": "192.0.2.{host}:9100"},
        {"instance": "192.0.2.{host}:9100", "host": "storage-{host}"},
    ],
    ids=["its address", "its name", "an address and node", "unknown", "outside of the cluster"],
)
def test_a_host_keeps_the_address_that(labels: Mapping[str, str]) -> None:
    (group,) = chosen(host_series(labels), family=NODE_EXPORTER).groups
    assert all(one.is_plain for one in group.labels)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ({"instance": "localhost:9100", "nodename": "{name}"}, ("nodename", "instance")),
        ({"instance": "localhost:9100", "machine": "{name}"}, ("machine", "instance")),
        ({"instance": "localhost:9100", "node": "{name}"}, ("node", "instance")),
        ({"instance": "{host}:9100", "node": "pool-a"}, ("instance",)),
        ({"instance": "192.0.2.1:{name}", "host": "{host}"}, ("host", "instance")),
    ],
    ids=["nodename", "an unusual label", "node", "another meaning of node", "an address"],
)
def test_a_host_is_named_by(labels: Mapping[str, str], names: tuple[str, ...]) -> None:
    (group,) = chosen(host_series(labels), family=NODE_EXPORTER).groups
    assert {one.label: one.names for one in group.labels} == {"instance": names, "node": names}


def test_jobs_of_hosts_that_name_them_differently_are_selected_apart() -> None:
    misnamed = host_series({"instance": "{host}:9100", "node": "pool-a"}, job="pools")
    named = host_series({"instance": "localhost:9100", "node": "{name}"}, job="agents")
    groups = chosen([*misnamed, *named], family=NODE_EXPORTER).groups
    found = {str(group.matchers): {one.label: one.names for one in group.labels} for group in groups}
    assert len(found) == 2
    assert {"instance": ("instance",), "node": ("instance",)} in found.values()


def test_the_device_names_a_gpu_only_where_no_index_does() -> None:
    indexed = series_of(BY_NAME["gpu-op"])
    assert chosen(indexed).labels[Role.GPU] == ("gpu",)
    assert chosen([one.without("gpu") for one in indexed]).labels[Role.GPU] == ("device",)


def test_the_settings_name_the_label_of_hosts() -> None:
    labels = {"instance": "localhost:9100", "rack_slot": "slot-{host}"}
    (group,) = chosen(host_series(labels), family=NODE_EXPORTER, overrides={Role.NODE: ("rack_slot",)}).groups
    assert {one.label: one.names for one in group.labels} == {
        "instance": ("rack_slot",),
        "node": ("rack_slot",),
    }


@pytest.mark.parametrize("label", ["node", "Hostname", "collector"])
def test_the_scrapers_node_is_not_that_of_the_gpus(label: str) -> None:
    """Each node's GPU 0 has a UUID of its own, so a label that gives them all one node means something else."""
    addressed = [one.with_(**{label: "gpu-op"}) for one in series_of(BY_NAME["gpu-ipp"], BY_NAME["gpu-iph"])]
    assert chosen(addressed).labels[Role.NODE] == ("instance",)
    unknown = [one.with_(instance="172.16.0.1:9400") for one in addressed]
    assert f'{label}="gpu-op"' in chosen(unknown).problem or label == "collector"
    assert chosen(unknown).problem


def test_the_pods_that_hold_gpus_tell_their_node() -> None:
    series = [one.with_(node="gpu-std") for one in series_of(BY_NAME["gpu-ipp"])]
    assert chosen(series).labels[Role.NODE] == ("instance",)


def test_a_gpu_that_was_replaced_does_not_make_its_node_doubtful() -> None:
    now = series_of(BY_NAME["gpu-low"])
    before = [one.with_(uuid=one["uuid"] + "-old") for one in now]
    found = choose(DCGM, [*before, *now], nodes=NODES, fresh=now)
    assert found.labels[Role.NODE] == ("hostname", "instance")


def test_the_scrapers_node_is_not_that_of_hosts() -> None:
    series = host_series({"instance": "{host}:9100", "node": "gpu-std"})
    (group,) = chosen(series, family=NODE_EXPORTER).groups
    assert {one.label: one.names for one in group.labels} == {
        "instance": ("instance",),
        "node": ("instance",),
    }


def test_addresses_in_a_label_in_no_list_name_the_nodes() -> None:
    series = host_series({"instance": "prometheus:9090", "exported_instance": "{host}:9100"})
    assert chosen(series, family=NODE_EXPORTER).labels[Role.NODE] == ("exported_instance",)


def test_nodes_of_the_same_names_in_two_clusters_are_a_problem() -> None:
    """Nothing but the settings says which are meant: a GPU of the other cluster would get a card of this one."""
    other = [GpuNode(name=name, number=number, named={"node": name}) for name, number in (("gpu-nl", 66),)]
    series = [*series_of(BY_NAME["gpu-nl"]), *(one.with_(region="us") for one in series_of(*other))]
    assert chosen([one.with_(instance="192.0.2.1:9400") for one in series]).problem
