"""The words of a plan that does not wait for what holds it back: its button, its reason, and why that needs two."""

from collections.abc import Sequence

from collectors.facts.sentences import Sentence, sentence
from commands.execution.plan import HeldBy


def button_label(gates: Sequence[HeldBy]) -> str:
    """Return what the button says that takes a plan over the gates which hold it back."""
    match tuple(gates):
        case (HeldBy.BUDGET,):
            return "Go over the budget…"
        case (HeldBy.WINDOW,):
            return "Do it in the window…"
        case _:
            return "Do not wait…"


def why_second_person(gates: Sequence[HeldBy]) -> Sentence:
    """Return why such a plan needs a second person."""
    match tuple(gates):
        case (HeldBy.BUDGET,):
            return sentence("it goes over a budget")
        case (HeldBy.WINDOW,):
            return sentence("it does not wait for the end of a window")
        case _:
            return sentence("it does not wait for what holds it back")


def heading_of_reason(gates: Sequence[HeldBy], reason: str) -> Sentence:
    """Return the reason that was given, with what it is a reason for."""
    match tuple(gates):
        case (HeldBy.BUDGET,):
            return sentence("It goes over its budget: {reason}", reason=reason)
        case (HeldBy.WINDOW,):
            return sentence("It does not wait for the end of a window: {reason}", reason=reason)
        case _:
            return sentence("It does not wait: {reason}", reason=reason)
