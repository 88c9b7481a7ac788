"""Modules that show things and look into a text by pattern: which text that is, and that it is no sentence of ours."""

import ast
from pathlib import Path

from tests.house.conftest import ROOT, tracked

SHOWING = (
    "alerts/cards/*.py",
    "alerts/incidents/*.py",
    "bot/cards/*.py",
    "bot/delivery/*.py",
    "bot/doctor/*.py",
    "bot/evaluation/cluster_view.py",
    "bot/jobs/*.py",
    "bot/language/*.py",
    "commands/rule/*.py",
    "collectors/facts/findings.py",
    "collectors/facts/sentences.py",
)
READ = {
    "alerts/cards/headline.py": "the placeholders of a rule's template",
    "alerts/cards/incident_card.py": "the times at the beginning of a log line",
    "alerts/cards/sentence_spans.py": "the two characters at a joint, for the space between them",
    "alerts/cards/suggested_actions.py": "the words of a command line, and its placeholders",
    "alerts/cards/text.py": "backticks and moments in the words of rules of others",
    "alerts/incidents/impacts.py": "names in a log line",
    "alerts/incidents/wording.py": "numbers and addresses that Prometheus printed",
    "bot/doctor/role_rules.py": "paths of Kubernetes' API",
    "bot/evaluation/cluster_view.py": "numbers in the error of a server",
    "bot/language/po.py": "the lines of a catalogue's file",
}


def reads_by_pattern(source: str) -> bool:
    """Whether a module uses regular expressions."""
    return any(
        isinstance(node, ast.Import) and any(one.name in ("re", "re2") for one in node.names)
        for node in ast.walk(ast.parse(source))
    )


def test_no_module_that_shows_things_reads_a_finished_sentence_by_pattern() -> None:
    paths = tracked(*SHOWING)
    assert Path("alerts/cards/figures.py") in paths
    found = {str(path) for path in paths if reads_by_pattern((ROOT / path).read_text(encoding="utf-8"))}
    assert found == READ.keys(), "compare templates and arguments (ADR 0023), or say here what it reads"


def test_a_module_that_does_is_found() -> None:
    assert reads_by_pattern("import re\n")
    assert not reads_by_pattern("import json\nfrom collectors.facts.sentences import sentence\n")
