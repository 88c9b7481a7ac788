"""Rules about XIDs say of each number what the catalogue says, and read lines as its reader does."""

import pytest

from alerts.rendering import RuleRenderer
from alerts.rules import ResolveWhen, Rule, Severity
from collectors.facts.kernel_lines import XID_LINE
from collectors.facts.labels import Labels
from collectors.facts.queries import LogQuery
from collectors.facts.results import Sample
from collectors.facts.topology import Topology
from collectors.facts.xid_catalogue import XIDS, numbers_of, xid_of
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
    assert not wrong, {one: f"^({numbers_of(one)})$" for one in ("critical", "warning", "info")}


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


def test_the_search_reads_lines_as_the_reader_of_kernel_lines_does() -> None:
    query = RULES["GPUXIDLogged"].query
    assert isinstance(query, LogQuery)
    assert query.extract == XID_LINE


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
