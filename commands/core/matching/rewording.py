"""Rewording: several words for one thing, as a command takes it: `two hours` is `2h`, `tail -n 50` is `50 lines`."""

import re
from collections.abc import Sequence

from commands.core.matching.tokens import has_quoted_text

_NUMBERS = {
    "half a": 0.5,
    "half an": 0.5,
    "a": 1,
    "an": 1,
    "another": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "eight": 8,
    "ten": 10,
    "twelve": 12,
    "半": 0.5,
    **{sign: number for number, sign in enumerate("一二三四五六七八九十", 1)},
    "两": 2,
}
_MINUTES = {"m": 1, "h": 60, "d": 1440, "w": 10080}
_CHINESE_UNITS = {"分": "m", "小": "h", "钟": "h", "天": "d", "周": "w", "星": "w", "礼": "w"}
_WORD = "|".join(sorted((word for word in _NUMBERS if word.isascii()), key=len, reverse=True))
_SIGN = "".join(word for word in _NUMBERS if len(word) == 1 and not word.isascii())
# What stands before a duration and adds nothing to it.
_BEFORE = r"(?:\b(?:by|over|more than|longer than|at least|the next|about)\s+)*"
_ENGLISH = re.compile(
    rf"{_BEFORE}\b(?:(?P<word>{_WORD})\s+(?:more\s+)?(?P<long>hour|minute|day|week)s?"
    r"|(?P<digits>\d{1,5})\s*(?P<more>more\s+)?(?P<unit>hours?|hrs?|h|minutes?|mins?|m|days?|d|weeks?|w))\b",
    re.IGNORECASE | re.ASCII,
)
_CHINESE = re.compile(
    rf"(?:超过|至少|再)?\s*(?P<number>[{_SIGN}]|\d{{1,5}})\s*个?(?P<half>半)?(?P<unit>小时|钟头|分钟|天|周|星期|礼拜)"
)
_TOMORROW = re.compile(
    r"\b(?:un)?till?\s+(?:tomorrow|tmrw|tmr)(?:\s+morning)?\b|直?到明[天早]", re.IGNORECASE
)
# What is added to what is there: a command takes the total, and asks for it.
_RELATIVE = re.compile(
    r"(?<!\S)\d+\s+(?:more|additional|extra|fewer|less)(?!\S)|(?<!\S)(?:another|add)\s+\d+(?!\S)"
    r"|再?[加多减少]\s*\d+\s*[个张台]",
    re.IGNORECASE | re.ASCII,
)
_HUNDREDS = re.compile(rf"(?P<number>[{_SIGN}])百(?=\s*[行条])")
_FOLLOW = re.compile(r"\btail\s+-f\b", re.IGNORECASE)
_TAIL = re.compile(r"(?<!\S)-n\s*(?P<count>\d{1,5})(?!\S)", re.ASCII)
_WORKER = re.compile(r"\b(?:worker\s+|rank)(?P<number>\d{1,5})\b", re.IGNORECASE | re.ASCII)
_RACK = re.compile(r"(?:机架|机柜)\s*(?P<name>[a-z0-9]+)", re.IGNORECASE | re.ASCII)
_OWN = re.compile(
    r"\bwhat\s+(?:am\s+i\s+running|do\s+i\s+run)\b|我(?:的|在跑的|跑的)\s*(?:训练|任务|作业|trainings?|jobs?)\s*们?|我在跑什么",
    re.IGNORECASE,
)
_MY = re.compile(r"\b(?:of\s+mine|my|our)\b|我们?的", re.IGNORECASE)
_ME = re.compile(r"\b(?P<word>to|by)\s+(?:me|myself)\b", re.IGNORECASE)
_NUMBER_OF = re.compile(
    r"第?\s*(?P<number>\d{1,3})\s*号\s*(?P<what>卡|gpu|显卡|rank)|(?<!月)(?P<bare>\d{1,3})\s*号(?!机)",
    re.IGNORECASE | re.ASCII,
)
_QUIET = re.compile(r"(?:先|快)?别[响吵]了?|\bstop\s+(?:alerting|paging|ringing)\b", re.IGNORECASE)
_CALL_OFF = re.compile(r"^(?:不行[,，]?\s*)?先?(?:别|不要)(?:做|跑|执行)了?(?=$|[\s,，。!！])")
_KEEP_OFF = re.compile(
    r"先?[别不]让新的?(?:任务|作业|训练|\s*pods?\s*)(?:上来|上去|进来|调度上来)?"
    r"|\b(?:do\s+not|don'?t)\s+schedule\s+(?:anything|pods|new\s+pods)\s+(?:on|to)\b|\bno\s+new\s+pods\s+on\b",
    re.IGNORECASE,
)
_ON_IT = re.compile(r"(?:^|\bi\s+am\s+|\bi'?m\s+)on\s+it\b(?!\s*\?)", re.IGNORECASE)


def in_own_notation(words: Sequence[str]) -> list[str]:
    """Return the words of a line with its durations, counts and days as a command takes them, and no relative count.

    A quoted text of several words stays as it is, and so does the whole line then.
    """
    if has_quoted_text(words):
        return list(words)
    line = " ".join(words)
    line = _QUIET.sub(" mute ", line)
    line = _CALL_OFF.sub("取消", line)
    line = _KEEP_OFF.sub(" cordon ", line)
    line = _HUNDREDS.sub(lambda found: f" {100 * _NUMBERS[found['number']]:.0f} ", line)
    line = _FOLLOW.sub("follow log", line)
    line = _TAIL.sub(r"\g<count> lines", line)
    line = _OWN.sub(" own trainings ", line)
    line = _ON_IT.sub("mine", line)
    line = _MY.sub(" own ", line)
    line = _ME.sub(r"\g<word> @me", line)
    line = _NUMBER_OF.sub(_numbered, line)
    line = _WORKER.sub(r"rank \g<number>", line)
    line = _RACK.sub(r" rack \g<name> ", line)
    return _RELATIVE.sub(" ", with_durations(line)).split()


def with_durations(line: str) -> str:
    """Return a line with its durations as a command takes them."""
    line = _TOMORROW.sub(" for 24h ", line)
    return _CHINESE.sub(_chinese, _ENGLISH.sub(_english, line))


def _numbered(found: re.Match[str]) -> str:
    what = (found["what"] or "").lower()
    return f" {'rank' if what in ('rank', '') else 'gpu'} {found['number'] or found['bare']} "


def _english(found: re.Match[str]) -> str:
    if found["word"]:
        return _written(_NUMBERS[" ".join(found["word"].lower().split())], found["long"][0].lower())
    more = " longer" if found["more"] else ""
    return f"{_written(float(found['digits']), found['unit'][0].lower())}{more}"


def _chinese(found: re.Match[str]) -> str:
    number = _NUMBERS.get(found["number"]) or float(found["number"])
    return f" {_written(number + (0.5 if found['half'] else 0), _CHINESE_UNITS[found['unit'][0]])} "


def _written(number: float, unit: str) -> str:
    """Return the duration in Prometheus' notation, which knows whole numbers only."""
    if number == int(number):
        return f"{int(number)}{unit}"
    return f"{int(number * _MINUTES[unit])}m"
