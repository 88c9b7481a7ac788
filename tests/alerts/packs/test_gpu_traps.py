"""Traps of GPU signals: what looks like a fault, or like health, and is none. One test for each."""

import re

import pytest

from alerts.rules import Rule
from collectors.facts.queries import PromQLQuery
from collectors.facts.xid_catalogue import Recovery, xid_of
from tests.alerts.packs.shipped import RUNBOOKS, promtool_cases, shipped_rules
from tests.support.xid_lines import xid_line

RULES = shipped_rules()
QUERIES = {
    name: " ".join(rule.query.expr.split())
    for name, rule in RULES.items()
    if isinstance(rule.query, PromQLQuery)
}


def test_trap_the_last_xid_never_goes_back_to_zero_and_changes_its_labels() -> None:
    """So only a change of the value counts, with the labels that follow the value aggregated away."""
    of_gauge = {name: expr for name, expr in QUERIES.items() if "DCGM_FI_DEV_XID_ERRORS" in expr}
    assert of_gauge.keys() == {"GPUXIDChanged"}
    assert not re.search(r"changes\(DCGM_FI_DEV_XID_ERRORS", of_gauge["GPUXIDChanged"])
    assert re.search(r"changes\(\( ?max by \(Hostname, UUID, gpu\)", of_gauge["GPUXIDChanged"])


def test_trap_a_count_within_a_window_is_not_a_counter() -> None:
    windowed = r"(rate|increase|delta|changes)\(DCGM_EXP_(XID_ERRORS|CLOCK_EVENTS)_COUNT"
    assert [name for name, expr in QUERIES.items() if re.search(windowed, expr)] == []


@pytest.mark.parametrize(
    "text",
    [
        "NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9).",
        "NVRM: Xid (0000:01:00): 94, Channel 00000001",
        "NVRM: Xid (PCI:0000:01:00.0): 94, pid='<unknown>', name=<unknown>",
    ],
)
def test_trap_an_xid_of_a_mig_instance_or_an_old_driver_is_read(text: str) -> None:
    line = xid_line(text)
    assert line is not None
    assert (line.number, line.pci) == (94, "0000:01:00")


def test_trap_45_is_not_a_root_cause_63_is_not_fatal_and_43_is_not_a_hardware_fault() -> None:
    assert (xid_of(45).severity, xid_of(45).is_follower) == ("info", True)
    assert (xid_of(43).severity, xid_of(43).is_hardware) == ("info", False)
    assert xid_of(63).severity != "critical"
    assert {xid_of(number).recovery.empties_the_node for number in (43, 45, 63)} == {False}


def test_trap_109_is_ignored_by_the_device_plugin_and_still_needs_a_reset() -> None:
    assert (xid_of(109).severity, xid_of(109).recovery) == ("critical", Recovery.RESET_GPU)


def test_trap_the_pod_of_the_exporter_is_not_a_workload() -> None:
    """With the charts' default labels `pod` is the exporter's, so rules group by `exported_pod` alone."""
    plain = r"by \([^)]*\bpod\b[^)]*\)"
    of_dcgm = {name: expr for name, expr in QUERIES.items() if "DCGM_" in expr}
    assert [name for name, expr in of_dcgm.items() if re.search(plain, expr)] == []


def test_trap_a_metric_that_is_not_scraped_is_unknown_and_not_healthy() -> None:
    """GPUs without series are found by the inventory; what stands still or is impossible has a rule of its own."""
    unknown = {"GPUMetricsMissing", "GPUMetricsFrozen", "GPUReadingsImpossible"}
    assert all("unknown, not healthy" in RULES[name].template.annotations["description"] for name in unknown)


def test_trap_a_hung_collective_shows_full_utilisation_so_no_rule_takes_it_for_progress() -> None:
    assert {name for name, expr in QUERIES.items() if "DCGM_FI_DEV_GPU_UTIL" in expr} == {
        "GPUMetricsFrozen",  # none either, for readings in whole watts
        "GPUReadingsImpossible",  # more than all of it
        "GPUReadingsLost",  # that there is any
        "GPUClockLow",  # beside a low clock
        "GPUPCIeLinkDowngraded",  # beside an old generation, which an idle GPU has by itself
        "GPUMetricsLost",  # the same
        "GPUsStarveOnData",  # beside a disk that does nothing else
        *("NodeTargetDown", "TargetDown"),  # that its exporter was there
    }


@pytest.mark.parametrize(
    "metric", ["felix_log_errors", "accelerator_memory_used_bytes", "container_gpu_memory_total"]
)
def test_trap_a_metric_that_does_not_mean_what_it_says_is_not_used(metric: str) -> None:
    assert [name for name, expr in QUERIES.items() if metric in expr] == []


def test_trap_an_idle_clock_and_a_power_cap_are_not_throttling() -> None:
    events = set(re.findall(r'clock_event=~?"([^"]+)"', " ".join(QUERIES.values())))
    assert {one for words in events for one in words.split("|")} == {
        "hw_thermal",
        "sw_thermal",
        "hw_slowdown",
        "hw_power_brake",
    }


def test_trap_modprobe_fails_after_an_update_of_the_kernel_and_mknod_fails_in_a_container() -> None:
    page = (RUNBOOKS / f"{RULES['NVIDIAUVMMissing'].template.runbook}.md").read_text(encoding="utf-8")
    forbidden = page.partition("## What not to do")[2].partition("##")[0]
    assert "modprobe after an update of the kernel" in forbidden
    assert "inside a container: it does not reach the host" in forbidden


def test_trap_an_unhealthy_gpu_does_not_come_back_until_the_device_plugin_restarts() -> None:
    unhealthy: Rule = RULES["GPUUnhealthy"]
    assert "does not add them back by itself" in unhealthy.template.annotations["description"]
    page = (RUNBOOKS / f"{unhealthy.template.runbook}.md").read_text(encoding="utf-8")
    assert "restart the device plugin's pod" in page


@pytest.mark.parametrize(
    "name",
    ["GPUECCUncorrectableErrors", "GPURowRemapFailed", "GPUXIDError", "GPUXIDChanged", "GPUTemperatureHigh"],
)
def test_trap_a_blank_value_of_dcgm_is_dropped_by_a_rule_that_proposes_a_cordon(name: str) -> None:
    """That they are, is tried by a case of the pack; that there is a bound at all, here."""
    assert re.search(r"< \d+|== 1", QUERIES[name])
    assert {True, False} == set(promtool_cases(RUNBOOKS.parent / RULES[name].location.file)[name])
