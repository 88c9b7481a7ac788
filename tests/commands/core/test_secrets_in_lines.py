"""A command line that a person types holds no secret once it is a request, but for a training's own command."""

from collectors.facts.redaction import Redactor, redacted, use_redactor
from commands.core.request import Actor, Request
from commands.models import AuditEntry
from tests.support.yard import NOON

ANA = Actor(id="U1", name="ana")


def test_a_reason_is_redacted_before_anything_is_done_with_it() -> None:
    line = 'node cordon gpu-a01 --reason "password=hunter2-Zq is wrong"'
    request = Request(id="r1", line=line, actor=ANA, at=NOON)
    assert request.line == 'node cordon gpu-a01 --reason "password=[redacted] is wrong"'


def test_the_command_of_a_training_stays_and_is_redacted_in_the_audit() -> None:
    line = (
        "training launch a --image i -- python train.py --wandb-key 0123456789abcdef0123456789abcdef01234567"
    )
    request = Request(id="r1", line=line, actor=ANA, at=NOON)
    assert request.line == line
    entry = AuditEntry(
        id="r1/asked", cluster="c", at=NOON, actor="U1", actor_name="ana", line=request.line, what="asked"
    )
    assert entry.line == "training launch a --image i -- python train.py --wandb-key [redacted]"


def test_patterns_of_the_settings_hold_for_the_whole_process() -> None:
    before = use_redactor(Redactor([r"EMP-\d+"]))
    try:
        assert (
            Request(id="r1", line="alert ack i1 EMP-77", actor=ANA, at=NOON).line == "alert ack i1 [redacted]"
        )
    finally:
        use_redactor(before)
    assert redacted("EMP-77") == "EMP-77"
