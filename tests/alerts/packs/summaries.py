"""The summaries that cases of check and log rules expect: rewritten as the rules render them after a new wording.

Only summaries change, and only of alerts whose labels are as expected. An entry with `numbers` is changed by hand.
"""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.alerts.packs.case_outcome import CaseOutcome, check_outcome, log_outcome
from tests.alerts.packs.check_case import CheckCase
from tests.alerts.packs.check_cases import CASES_FOLDER, cases_of
from tests.alerts.packs.log_case import LogCase
from tests.alerts.packs.log_cases import LOG_CASES_FOLDER, log_cases_of
from tests.alerts.packs.shipped import shipped_rules
from tests.alerts.packs.shipped_logs import Logs

Change = tuple[int, int, str]  # from where to where in the text, and what comes there


def write_summaries() -> Iterator[str]:
    """Rewrite every file of cases, and yield the names of those that have changed."""
    for path in (*sorted(CASES_FOLDER.glob("*.yaml")), *sorted(LOG_CASES_FOLDER.glob("*.yaml"))):
        if reword_summaries(path):
            yield path.name


def reword_summaries(path: Path) -> bool:
    """Rewrite a file of cases. Return whether it has changed."""
    text = path.read_text(encoding="utf-8")
    nodes = _fields(yaml.compose(text))["cases"].value
    changed = text
    found = [_changes(node, case) for node, case in zip(nodes, _cases_of(path, text), strict=True)]
    for first, last, now in sorted((one for changes in found for one in changes), reverse=True):
        changed = changed[:first] + now + changed[last:]
    path.write_text(changed, encoding="utf-8")
    return changed != text


def _cases_of(path: Path, text: str) -> Iterator[CheckCase | LogCase]:
    return log_cases_of(text) if path.parent.name == LOG_CASES_FOLDER.name else cases_of(text)


def _changes(node: yaml.Node, case: CheckCase | LogCase) -> list[Change]:
    """Return what changes of a case, beside its part of the file."""
    alerts = _fields(node)["fires"].value if "fires" in _fields(node) else []
    if len(alerts) != len(case.fired):  # some stand for several
        return []
    now = asyncio.run(_outcome(case)).fires
    changes: list[Change] = []
    for alert, before in zip(alerts, case.fired, strict=True):
        summary = now.get(tuple(sorted(before.labels.items())), before.summary)
        if summary != before.summary:
            written = _fields(alert)["summary"]
            quoted = json.dumps(summary, ensure_ascii=False)
            changes.append((written.start_mark.index, written.end_mark.index, quoted))
    return changes


async def _outcome(case: CheckCase | LogCase) -> CaseOutcome:
    rule = shipped_rules()[case.rule]
    if isinstance(case, CheckCase):
        return await check_outcome(rule, case)
    async with Logs.running() as logs:
        await logs.ship(*case.events)
        return await log_outcome(rule, logs)


def _fields(node: yaml.Node | None) -> dict[str, yaml.Node]:
    assert isinstance(node, yaml.MappingNode)
    return {key.value: value for key, value in node.value}
