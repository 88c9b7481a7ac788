"""A node whose lines do not arrive stays so for longer than the search goes back."""

from collectors.checks.log_flow import silent
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from tests.alerts.packs.check_case import check_input
from tests.support.objects import inventory, node, samples_in

LINES = (Sample(labels=Labels({"node": "gpu-a01"}), value=900),)
THREE = inventory(*(node(f"gpu-a0{number}") for number in (1, 2, 3)))


def test_what_stands_is_over_only_when_lines_arrive() -> None:
    standing = [Labels({"node": "gpu-a03"}), Labels({"node": "gpu-a01"})]
    long_after = check_input(THREE, logs=(LINES, LINES), standing=standing)

    assert [sample.labels for sample in samples_in(silent.run(long_after, {}))] == [
        Labels({"node": "gpu-a03"})
    ]


def test_without_any_line_the_logs_stay_missing() -> None:
    standing = [Labels({"component": "logs"})]

    found = samples_in(silent.run(check_input(THREE, logs=((), ()), standing=standing), {}))

    assert [sample.labels for sample in found] == standing
