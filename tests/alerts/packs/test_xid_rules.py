"""Rules about XIDs say of each number what the catalogue says."""

import json

import pytest

from alerts.rendering import RuleRenderer
from alerts.rules import ResolveWhen, Rule, Severity
from benchmarks.quality.measure import DATA
from collectors.facts.labels import Labels
from collectors.facts.patterns import compile_pattern
from collectors.facts.queries import LogQuery
from collectors.facts.results import Sample
from collectors.facts.topology import Topology, pci_address
from collectors.facts.xid_catalogue import XIDS, xid_of
from tests.alerts.packs.shipped import shipped_rules

RULES = {
    name: rule
    for name, rule in shipped_rules().items()
    if "$labels.xid" in rule.template.labels.get("severity", "")
}
EVERY = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
RENDERER = RuleRenderer(lambda: Topology(cluster="prod-a"), clean=lambda text: text)


def severity(rule: Rule, number: int, **labels: str) -> str:
    sample = Sample(labels=Labels({"xid": str(number), **labels}), value=1)
    return RENDERER.labels(rule, sample)["severity"]


def test_there_are_rules_about_xids() -> None:
    assert {"GPUXIDError", "GPUXIDChanged", "GPUXIDLogged"} <= RULES.keys()


@EVERY
def test_each_number_has_the_severity_of_the_catalogue(rule: Rule) -> None:
    numbers = XIDS if rule.name == "GPUXIDChanged" else range(max(XIDS) + 28)
    wrong = [number for number in numbers if severity(rule, number) != xid_of(number).severity]
    numbers_of = {
        one: [str(number) for number in sorted(XIDS) if XIDS[number].severity == one]
        for one in ("critical", "warning", "info")
    }
    assert not wrong, {one: f"^({'|'.join(found)})$" for one, found in numbers_of.items()}


def test_a_gauge_can_be_corrupt_so_a_number_in_no_list_calls_nobody_unless_newer_drivers_may_have_it() -> (
    None
):
    rule = RULES["GPUXIDChanged"]
    assert {severity(rule, number) for number in range(max(XIDS)) if number not in XIDS} == {"info"}
    assert {severity(rule, number) for number in range(max(XIDS) + 1, 200)} == {"warning"}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"class": "Fatal"}, "critical"),
        ({"class": "Nonfatal"}, "info"),
        ({"recovery": "None"}, "info"),
        ({"recovery": "Drain P2P"}, "warning"),
        ({"recovery": "Node Reboot Required"}, "critical"),
        ({"recovery": "GPU Reset Required"}, "critical"),
    ],
)
def test_a_line_that_says_more_than_its_number_decides(labels: dict[str, str], expected: str) -> None:
    assert severity(RULES["GPUXIDLogged"], 149, **labels) == expected


@EVERY
def test_a_critical_number_needs_a_proof_and_a_new_gpu_only_a_word_has(rule: Rule) -> None:
    """The end of its line in a window says nothing of the GPU: it needs a reset, a restart or a vendor."""
    assert rule.template.resolve_when is ResolveWhen.PROVEN
    assert rule.template.proof_severity is Severity.CRITICAL
    proofs = {number: proof(rule, number) for number in XIDS}
    assert {number for number, words in proofs.items() if words == "word"} == {64}
    assert set(proofs.values()) == {"word", "gpus-allocatable"}


def proof(rule: Rule, number: int) -> str:
    return RENDERER.annotations(rule, Sample(labels=Labels({"xid": str(number)}), value=1))["proof"]


@pytest.mark.parametrize(
    ("text", "severity", "link"),
    [
        ("SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress", "info", "32"),
        ("SXid (PCI:0000:a9:00.0): 20034, Fatal, Link 30 LTSSM", "critical", "30"),
        ("SXid (PCI:0000:a9:00.0): 23001, Fatal, Link 00 x", "critical", "00"),
        ("SXid (PCI:0000:a9:00.0): 10004, temperature", "info", None),
        ("SXid (PCI:0000:a9:00.0): 11111, Data {0x50610002, 0x10100030}", "info", None),
        ("SXid (PCI:0000:a9:00.0): 11112, Fatal, Link 07 x", "critical", "07"),
    ],
)
def test_an_nvswitch_error_has_the_severity_of_its_number_or_else_of_its_line(
    text: str, severity: str, link: str | None
) -> None:
    found = nvswitch_error(text)
    assert found is not None
    assert (found["severity"], found.get("link")) == (severity, link)


def test_lines_of_other_tools_tests_about_nvswitches_are_read_as_they_read_them() -> None:
    file = DATA / "gpu_kmsg/cases.jsonl"
    if not file.exists():
        pytest.skip("the shared data set is not next to the checkout")
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    asked = [case for case in cases if case["component"].endswith("/sxid")]
    wrong = []
    for case in asked:
        expected = case["expect"]
        wanted = expected.get("expectedSXid", expected.get("expected", 0)) or 0
        found = nvswitch_error(case["line"]) or {}
        got: int | str = int(found.get("sxid", 0))
        if isinstance(wanted, str):  # an address
            got, wanted = pci_address(found.get("pci", "")), pci_address(wanted.removeprefix("PCI:"))
        if got != wanted:
            wrong.append((case, got))
    assert len(asked) > 5
    assert wrong == []


def nvswitch_error(text: str) -> dict[str, str] | None:
    """Return what the rule on NVSwitch errors reads of the line, with the severity of the alert."""
    rule = shipped_rules()["NVSwitchErrorLogged"]
    assert isinstance(rule.query, LogQuery)
    assert rule.query.extract
    found = compile_pattern(rule.query.extract).search(text)
    if found is None:
        return None
    named = {name: value for name, value in found.groupdict("").items() if value}
    return named | {"severity": severity(rule, 0, **named)}
