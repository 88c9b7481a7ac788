"""Texts of an acceptance: its verdict in a line, the next step, and its figures. Pure."""

from collections.abc import Sequence

from alerts.cards.message import Block, Button, Color, Context, Paragraph, Table
from alerts.cards.text import joined, markup, text
from collectors.acceptance.readings import MeasuredFigure, NextStep, PartState
from collectors.facts.sentences import Sentence, counted, listed, sentence
from commands.acceptance.acceptance import Acceptance, AcceptanceState
from commands.acceptance.judgement import next_steps, part_text

ROWS = 12  # figures that are shown
WARNINGS = 6
VERDICT_COLORS = {
    AcceptanceState.RUNNING: Color.BUSY,
    AcceptanceState.ACCEPTED: Color.GOOD,
    AcceptanceState.FAILED: Color.CRITICAL,
    AcceptanceState.SLOW: Color.WARNING,
    AcceptanceState.UNTESTED: Color.WARNING,
    AcceptanceState.WITHDRAWN: Color.CRITICAL,
    AcceptanceState.RETURNED: Color.QUIET,
}
_STEPS = {
    NextStep.REPLACE: sentence("have the part replaced by the vendor, with the evidence of this node"),
    NextStep.REBOOT: sentence("reboot the node, and test it again"),
    NextStep.RESET: sentence("reset the GPU, and test it again"),
    NextStep.CONFIGURE: sentence("correct the driver or its settings, and test it again"),
    NextStep.LOOK: sentence("look at the output of the test"),
}


def verdict_line(one: Acceptance) -> Sentence:
    """Return the verdict in a sentence, with its first reason."""
    why = one.reasons[0] if one.reasons else ""
    match one.state:
        case AcceptanceState.ACCEPTED if one.is_first and one.device:
            return sentence(
                "{node} is accepted. No other node with {model} was accepted: there is nothing to compare its figures "
                "with.",
                node=one.what,
                model=one.model or sentence("its GPUs"),
            )
        case AcceptanceState.ACCEPTED if one.is_first:
            return sentence(
                "{node} is accepted. It is the first node with {model}: there is nothing to compare its figures with.",
                node=one.what,
                model=one.model or sentence("its GPUs"),
            )
        case AcceptanceState.ACCEPTED:
            return counted(
                "{node} is accepted: compared with {count} other node of its model.",
                "{node} is accepted: compared with {count} other nodes of its model.",
                node=one.what,
                count=one.compared,
            )
        case AcceptanceState.FAILED:
            return sentence("{node} failed: {why}.", node=one.what, why=why)
        case AcceptanceState.SLOW:
            return sentence("{node} is slow: {why}.", node=one.what, why=why)
        case AcceptanceState.UNTESTED:
            return sentence("{node} could not be tested: {why}.", node=one.what, why=why)
        case AcceptanceState.WITHDRAWN:
            return sentence("{node} is no longer accepted: {why}.", node=one.what, why=why)
        case AcceptanceState.RETURNED:
            return sentence("{node} returned without a test.", node=one.what)
        case AcceptanceState.RUNNING:
            return sentence("{node} is being tested.", node=one.what)


def advice(one: Acceptance) -> Sentence | None:
    """Return what to do next; None where nothing is to do."""
    match one.state:
        case AcceptanceState.FAILED:
            steps = next_steps(one)
            return sentence("Next: {step}.", step=_STEPS[steps[0]]) if steps else None
        case AcceptanceState.SLOW:
            return sentence(
                "Next: reset the GPU and test it again; if it stays slow, have it replaced by the vendor."
            )
        case AcceptanceState.WITHDRAWN:
            return (
                sentence("Next: cordon the GPU, and have it looked at under load.")
                if one.device
                else sentence("Next: cordon the node, and have its GPUs looked at under load.")
            )
        case AcceptanceState.UNTESTED:
            return sentence("Next: correct that, and test it again.")
        case _:
            return None


def verdict_blocks(one: Acceptance) -> tuple[Block, ...]:
    """Return what a card says below the verdict's line: the other reasons, the figures, and what to do."""
    blocks: list[Block] = []
    if len(one.reasons) > 1:
        blocks.append(Paragraph(text=joined("\n", (text("• ", markup(said)) for said in one.reasons[1:]))))
    if next_step := advice(one):
        blocks.append(Paragraph(text=text(next_step)))
    if one.figures:
        blocks.append(figures_table(one))
    warnings = [finding for finding in one.findings if finding.outcome is PartState.WARNED]
    if warnings:
        said = [
            text("• ", markup(listed(filter(None, (part_text(two.part, two.gpu), two.said)), ":")))
            for two in warnings[:WARNINGS]
        ]
        blocks.append(Context(text=joined("\n", said)))
    if one.is_proof and one.watched_until is not None:
        until = sentence("An alert about its GPUs before {until} withdraws this.", until=one.watched_until)
        blocks.append(Context(text=text(until)))
    return tuple(blocks)


def figures_table(one: Acceptance) -> Table:
    """Return the figures with their share of the median, the slow ones first."""
    slow = {(short.name, short.unit, short.gpu): short for short in one.slow}
    ordered: Sequence[MeasuredFigure] = sorted(
        one.figures,
        key=lambda figure: (
            (figure.name, figure.unit, figure.gpu) not in slow,
            figure.gpu is not None,
            figure.name,
            -1 if figure.gpu is None else figure.gpu,
        ),
    )
    rows = []
    for figure in ordered[:ROWS]:
        short = slow.get((figure.name, figure.unit, figure.gpu))
        share = (
            sentence("{share:.0f} % of {median:g}", share=100 * short.share, median=short.median)
            if short
            else ""
        )
        rows.append((part_text("", figure.gpu), figure.name, f"{figure.value:g} {figure.unit}", share))
    return Table(
        heading=("part", "measured", "value", "slow"),
        rows=tuple(rows),
        more=max(0, len(ordered) - ROWS),
    )


def uncordon_line(one: Acceptance) -> str:
    return f"gpu uncordon {one.node} {one.gpu}" if one.device else f"node uncordon {one.node}"


def verdict_buttons(one: Acceptance) -> tuple[Button, ...]:
    """Return what a verdict suggests: the way back, or another test."""
    name = f"{one.node} {one.gpu}" if one.device else one.node
    noun = "gpu" if one.device else "node"
    again = Button(label="Test again", line=f"{noun} accept {name} --suite {one.suite}")
    match one.state:
        case AcceptanceState.ACCEPTED if one.returned_at is None:
            return (Button(label=sentence("Uncordon {node}", node=one.what), line=uncordon_line(one)),)
        case AcceptanceState.WITHDRAWN:
            label = sentence("Cordon {node}", node=one.what)
            return (Button(label=label, line=f'{noun} cordon {name} --reason "acceptance withdrawn"'), again)
        case AcceptanceState.FAILED | AcceptanceState.SLOW | AcceptanceState.UNTESTED:
            return (again,)
        case _:
            return ()
