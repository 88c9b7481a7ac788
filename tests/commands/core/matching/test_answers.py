"""Lines of owners in the thread of a request are read as their answers, in English and in Chinese."""

import shlex
from dataclasses import replace

import pytest

from commands.command_catalogue import LEXICON
from commands.core.matching.interpretation import Offer, Run, interpret_answer
from commands.core.parsing import words_of
from commands.gates.owner_question import OwnerQuestion

ID = "c3f9a1b2"
OF_PLAN = OwnerQuestion(request=ID, trainings=("vision/detr", "vision/vit"), for_plan=True)
OF_IDLE = OwnerQuestion(request=ID, trainings=("vision/vit",))


def answers(line: str, question: OwnerQuestion = OF_PLAN) -> list[str]:
    """Return the lines to which it leads: run if one, else as buttons."""
    match interpret_answer(words_of(line), question, LEXICON):
        case Run() as run:
            return [f"run {shlex.join(run.words)}"]
        case Offer() as offer:
            return [shlex.join(words) for words in offer.lines]
        case None:
            return []


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("I need vision/vit", f"gpu keep {ID} --training vision/vit"),
        ("I still need vit!", f"gpu keep {ID} --training vision/vit"),
        ("sorry, I still need it", f"gpu keep {ID}"),
        ("I'm still using vit", f"gpu keep {ID} --training vision/vit"),
        ("No, keep it please", f"gpu keep {ID}"),
        ("please don't stop detr", f"gpu keep {ID} --training vision/detr"),
        (
            "keep vision/vit, it loads its data",
            f"gpu keep {ID} --training vision/vit --reason 'it loads its data'",
        ),
        ("I need it because a paper is due", f"gpu keep {ID} --reason 'a paper is due'"),
        ("I need both detr and vit", f"gpu keep {ID}"),
        ("I need detr and vit", f"gpu keep {ID}"),
        ("not now", f"gpu snooze {ID}"),
        ("not yet, vit is in its last epoch", ""),
        ("not yet, it is in its last epoch", f"gpu snooze {ID} --reason 'it is in its last epoch'"),
        ("I need vit for two more hours", f"gpu snooze {ID} --training vision/vit --for 2h"),
        ("another hour please", f"gpu snooze {ID} --for 1h"),
        ("give me 30 minutes", f"gpu snooze {ID} --for 30m"),
        ("you can have them", f"gpu agree {ID}"),
        ("you can have vision/detr", f"gpu agree {ID} --training vision/detr"),
        ("I don't need it any more", f"gpu agree {ID}"),
        ("go on", f"gpu agree {ID}"),
        ("yes", f"gpu agree {ID}"),
        ("no", f"gpu keep {ID}"),
        ("after the next checkpoint", f"gpu agree {ID} --after-checkpoint"),
        ("vit: after the next checkpoint", f"gpu agree {ID} --training vision/vit --after-checkpoint"),
        ("我需要 vision/vit", f"gpu keep {ID} --training vision/vit"),
        ("vit我还要用", f"gpu keep {ID} --training vision/vit"),
        ("别停", f"gpu keep {ID}"),
        ("现在不行", f"gpu snooze {ID}"),
        ("再给我两个小时", f"gpu snooze {ID} --for 2h"),
        ("等等,还没跑完", f"gpu snooze {ID}"),
        ("你们拿走吧", f"gpu agree {ID}"),
        ("vit不用了", f"gpu agree {ID} --training vision/vit"),
        ("等下个检查点之后", f"gpu agree {ID} --after-checkpoint"),
        ("下个检查点之后", f"gpu agree {ID} --after-checkpoint"),
    ],
)
def test_it_is_the_answer_to_the_plan_that_asks(line: str, answer: str) -> None:
    assert answers(line) == ([answer] if answer else [])


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("I need vision/vit", f"gpu keep {ID}"),
        ("I still need it", f"gpu keep {ID}"),
        ("yes", f"gpu keep {ID}"),
        ("yes, I need them for 3 hours", f"gpu snooze {ID} --for 3h"),
        ("not now", f"gpu snooze {ID}"),
        ("you can have them", f"run gpu release {ID}"),
        ("take them back", f"run gpu release {ID}"),
        ("no, I don't need them anymore", f"run gpu release {ID}"),
        ("还要用", f"gpu keep {ID}"),
        ("用完了", f"run gpu release {ID}"),
        ("晚点再说", f"gpu snooze {ID}"),
    ],
)
def test_it_is_the_answer_to_who_asks_for_idle_gpus(line: str, answer: str) -> None:
    assert answers(line, OF_IDLE) == [answer]


def test_two_answers_are_two_buttons() -> None:
    found = answers("I need vit, but you can have detr")
    assert found == [
        f"gpu keep {ID} --training vision/vit",
        f"gpu agree {ID} --training vision/detr",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "do I need to answer?",
        "I need speech/tts",  # it is not asked about
        "I need a new node",
        "I need a node",
        "why do you need it",
        "you can have it if the disk is full",
        "you can have them, but not today",
        "status",
        "vision/vit",
        f"gpu keep {ID}",
        "keep it --reason fan",
        "need " * 50,
        "",
        "我需要加节点",
        "为什么要用",
    ],
)
def test_other_lines_are_read_as_everywhere(line: str) -> None:
    assert answers(line) == []


def test_what_is_no_answer_to_this_question_is_none() -> None:
    """An idle training has no plan that could go on."""
    assert answers("go on", OF_PLAN) == [f"gpu agree {ID}"]
    assert answers("go on", OF_IDLE) == []
    assert answers("I need vit", replace(OF_PLAN, trainings=("a/vit", "b/vit"))) == []


def test_each_answer_is_of_a_command_that_takes_a_request_and_its_options() -> None:
    commands = {one.name: one for one in LEXICON.catalogue}
    for words in LEXICON.answers:
        assert all(words.said)
        for name in {words.to_plan, words.to_idle, words.for_a_while} - {""}:
            flags = {flag for parameter in commands[name].parameters for flag in parameter.opts}
            assert "request" in flags
            assert set(words.options) <= flags
            assert not words.for_a_while or "--for" in {
                flag for one in commands[words.for_a_while].parameters for flag in one.opts
            }


def test_no_phrase_is_two_answers() -> None:
    phrases = [phrase for words in LEXICON.answers for phrase in words.said]
    assert len(phrases) == len(set(phrases)), {one for one in phrases if phrases.count(one) > 1}
