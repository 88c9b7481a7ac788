"""Checks of the DNS autoscaler: at its maximum, shrunk with the nodes that it counts, or with an unusable document."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.inventory import Inventory
from collectors.dns.autoscaler import Autoscaler, autoscaler_of
from collectors.dns.deployment import dns_deployment
from collectors.dns.names import size_of
from collectors.facts.dns_load import by_names
from collectors.facts.labels import Labels
from collectors.facts.proportional import LINEAR, Linear, read_config, unknown_keys
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import counted, listed, said_by, sentence

REJECTED, UNKNOWN_KEY = "rejected", "unknown-key"


@partial(
    ClusterCheck,
    name="dns-autoscaler-capped",
    summary="the DNS autoscaler's `max` is below what the cluster requires",
    needs={"inventory", "configs"},
    parameters={"growth": 1.0},
    kinds={"services"},
)
def autoscaler_capped(inputs: CheckInput, parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each linear autoscaler whose `max` is below what nodes or names require.

    The value is the number of replicas required. `growth`: the factor by which it must exceed `max`.
    """
    for name, autoscaler, linear in _valid(inputs):
        assert not isinstance(inputs.inventory, Blind)
        nodes, cores = autoscaler.count(inputs.inventory.nodes.values(), linear)
        yield None
        by_size = linear.unbounded(nodes=nodes, cores=cores)
        names = size_of(inputs.inventory, autoscaler).names
        wanted = max(by_size, by_names(linear, names))
        if linear.max and wanted > linear.max * float(parameters["growth"]):
            driver = (
                counted("{count} name requires", "{count} names require", count=names)
                if wanted > by_size
                else counted("{count} node requires", "{count} nodes require", count=nodes)
            )
            text = counted(
                "{driver} {count} replica, `max` is {max}",
                "{driver} {count} replicas, `max` is {max}",
                driver=driver,
                count=wanted,
                max=linear.max,
            )
            yield Sample(labels=_labels(name), value=wanted, texts=(text,))


@partial(
    ClusterCheck,
    name="dns-autoscaler-shrunk",
    summary="the DNS autoscaler does not count many of the nodes",
    needs={"inventory", "configs"},
    parameters={"below": 0.75},
)
def autoscaler_shrunk(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each autoscaler that sets fewer replicas as it does not count some nodes.

    It counts no node that is cordoned or not Ready, but the pods of a cordoned one ask on. The value is the number of
    replicas that it sets. `below`: the share of what all nodes require, under which there is a sample.
    """
    found = []
    for name, autoscaler, linear in _valid(inputs):
        assert not isinstance(inputs.inventory, Blind)
        nodes = inputs.inventory.nodes.values()
        everything, cores = autoscaler.count_all(nodes)
        seen, _ = autoscaler.count(nodes, linear)
        of_all = linear.replicas(nodes=everything, cores=cores)
        sets = autoscaler.replicas(nodes, linear)
        if sets < of_all * float(parameters["below"]):
            text = counted(
                "{count} of {nodes} nodes is cordoned or not Ready, so {replicas}, not {required}",
                "{count} of {nodes} nodes are cordoned or not Ready, so {replicas}, not {required}",
                count=everything - seen,
                nodes=everything,
                replicas=counted("{count} replica is set", "{count} replicas are set", count=sets),
                required=of_all,
            )
            found.append(Sample(labels=_labels(name), value=sets, texts=(text,)))
    return found


@partial(
    ClusterCheck,
    name="dns-autoscaler-config",
    summary="the DNS autoscaler rejects its ConfigMap, or ignores a part of it",
    needs={"configs"},
    parameters={"problem": REJECTED},
)
def autoscaler_config(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each ConfigMap with this `problem`. A ladder is valid, and has no sample.

    `rejected`: the autoscaler keeps the replicas as they are. `unknown-key`: it ignores a key of the document.
    """
    assert not isinstance(inputs.configs, Blind)
    found = {
        name: _problem_of(config) for name, config in inputs.configs.items() if set(config) != {"ladder"}
    }
    return [
        Sample(labels=_labels(name), value=1, texts=(text,))
        for name, (problem, text) in found.items()
        if problem == parameters["problem"]
    ]


def _problem_of(config: Mapping[str, str]) -> tuple[str, str]:
    try:
        read_config(config)
    except ValueError as error:
        return REJECTED, sentence("{error}; the replicas stay as they are", error=said_by(error))
    unknown = unknown_keys(config[LINEAR])
    return (
        (UNKNOWN_KEY, sentence("the autoscaler ignores {unknown}", unknown=listed(unknown[:3])))
        if unknown
        else ("", "")
    )


def _valid(inputs: CheckInput) -> Iterator[tuple[str, Autoscaler, Linear]]:
    """Yield the name of each ConfigMap that is a valid linear document, who reads it, and what it says."""
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.configs, Blind)
    known = _autoscaler(inputs.inventory)
    for name, config in inputs.configs.items():
        try:
            linear = read_config(config)
        except ValueError:
            continue  # `autoscaler_config` reports it
        yield name, known if known.config == name else Autoscaler(config=name), linear


def _autoscaler(inventory: Inventory) -> Autoscaler:
    deployment = dns_deployment(inventory)
    return (autoscaler_of(inventory, deployment) if deployment is not None else None) or Autoscaler()


def _labels(name: str) -> Labels:
    namespace, _, configmap = name.partition("/")
    return Labels({"component": "dns", "namespace": namespace, "configmap": configmap})


CHECKS = (autoscaler_capped, autoscaler_shrunk, autoscaler_config)
