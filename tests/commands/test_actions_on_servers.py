"""Each action on nodes, GPUs, pods and volumes on a real control plane: refused, crashed midway, done, undone."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import pytest_asyncio

from alerts.cards.suggested_actions import fill, label_of
from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from collectors.facts.label_mapping import subject_of
from tests.support.actions.action_lines import COMMANDS, played_lines
from tests.support.actions.action_rows import ROWS


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def faults(real_kubernetes: Any) -> Mapping[str, Sequence[str]]:
    return await played_lines(real_kubernetes.kubeconfig)


@pytest.mark.soak
@pytest.mark.real
@pytest.mark.xdist_group("real_kubernetes")
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("command", COMMANDS)
async def test_an_action_is_refused_done_after_a_crash_and_undone(
    faults: Mapping[str, Sequence[str]], command: str
) -> None:
    assert faults[command] == []


def test_the_card_of_each_row_has_its_button() -> None:
    rules = {rule.name: rule for rule in read_rulebook(RulesSettings()).rules}
    for row in ROWS:
        if row.rule and not row.is_over:
            names = {key: value.format(node="n-1", space="team") for key, value in row.labels.items()}
            lines = (fill(line, subject_of(names)) for line in rules[row.rule].template.actions)
            found = {label_of(line): line for line in lines if line is not None}
            label, start = (text.format(node="n-1", space="team") for text in (row.button, row.line))
            assert found.get(label, "").startswith(start), f"{row.command}: {found}"
