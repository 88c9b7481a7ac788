"""The grammar of PromQL: from the tokens of an expression to its tree.

Whether an expression means something, by its functions and types, is judged elsewhere.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple, TypeVar

from collectors.facts.clock import duration
from collectors.facts.promql.tokenizing import Kind, PromQLSyntaxError, Token, TokenReader, unquoted
from collectors.facts.promql.tree import (
    Binary,
    Call,
    Group,
    LabelMatcher,
    Number,
    Part,
    String,
    Subquery,
    VectorSelector,
)

COMPARISONS = ("==", "!=", ">", "<", ">=", "<=")
_LEVELS = (("or",), ("and", "unless"), COMPARISONS, ("+", "-"), ("*", "/", "%", "atan2"), ("^",))
_BINDS = {operator: level for level, some in enumerate(_LEVELS) for operator in some}
_MATCHES = ("=", "!=", "=~", "!~")
NAMED_ONLY = frozenset({"sum", "min", "max", "avg", "group", "stddev", "stdvar", "count", "quantile"})
_AGGREGATIONS = NAMED_ONLY | {"count_values", "topk", "bottomk", "limitk", "limit_ratio"}
_NO_METRICS = ("atan2", "bool", "on", "ignoring", "group_left", "group_right")
_Item = TypeVar("_Item")


class _Waiting(NamedTuple):
    """An operator, or a sign, whose right side is still read."""

    binds: int
    operator: str
    sign_at: int | None = None
    many: str = ""
    included: tuple[str, ...] = ()


@lru_cache(maxsize=2_048)  # the rules of a cycle are the same as in the last one
def parse(expr: str) -> Part:
    """Return the tree of an expression. Raises PromQLSyntaxError."""
    parser = _Parser(expr)
    found = parser.expression()
    if parser.now.text:
        raise parser.unexpected()
    return found


class _Parser(TokenReader):
    def expression(self) -> Part:
        """Take the longest expression from here on: what binds more is folded first."""
        sides: list[Part] = []
        waiting: list[_Waiting] = []
        while True:
            while sign := self.take("+", "-"):
                waiting.append(_Waiting(_BINDS["*"], sign.text, sign.start))
            sides.append(self._operand())
            operator = self.now.word
            binds = _BINDS.get(operator, -1)
            while waiting and (waiting[-1].binds > binds or waiting[-1].binds == binds != _BINDS["^"]):
                _fold(sides, waiting.pop())
            if binds < 0:
                return sides.pop()
            self.need(operator)
            waiting.append(self._matching(operator))

    def _matching(self, operator: str) -> _Waiting:
        """Take what stands between an operator and its right side."""
        many: Token | None = None
        included: tuple[str, ...] = ()
        if operator in COMPARISONS:
            self.take("bool")
        if self.take("on", "ignoring"):
            self._labels()
            if (many := self.take("group_left", "group_right")) and self.now.text == "(":
                included = self._labels()
        while self.ahead(1) == "(" and self.take("fill", "fill_left", "fill_right"):
            self._listed(self.expression)
        side = many.word.removeprefix("group_") if many else ""
        return _Waiting(_BINDS[operator], operator, many=side, included=included)

    def _operand(self) -> Part:
        token = self.now
        found: Part
        if self.take("("):
            inner = self.expression()
            found = Group(start=token.start, end=self.need(")").end, inner=(inner,))
        elif self.take(Kind.NUMBER, Kind.DURATION):
            found = Number(start=token.start, end=token.end, value=_seconds(token))
        elif self.take(Kind.STRING):
            found = String(start=token.start, end=token.end, value=unquoted(token.text))
        else:
            found = self._call() or self._selector()
        while self.now.text == "[":
            found = self._subquery(found)
        return found

    def _call(self) -> Part | None:
        """Take a function or an aggregation; None where a selector stands instead."""
        name, after = self.now, self.ahead(1)
        is_aggregation = name.word in _AGGREGATIONS
        if name.kind is not Kind.NAME or not (
            after == "(" or (is_aggregation and after in ("by", "without"))
        ):
            return None
        self.need(Kind.NAME)
        grouping = self.take("by", "without") if is_aggregation else None
        labels = self._labels() if grouping else ()
        arguments = self._listed(self.expression)
        if is_aggregation and grouping is None and (grouping := self.take("by", "without")):
            labels = self._labels()
        return Call(
            start=name.start,
            end=self.end,
            inner=arguments,
            name=name.word if is_aggregation else name.text,
            is_aggregation=is_aggregation,
            grouping=grouping.word if grouping else "",
            labels=labels,
        )

    def _listed(
        self, item: Callable[[], _Item], brackets: str = "()", *, comma: bool = False
    ) -> tuple[_Item, ...]:
        """Take a list; with `comma`, one may stand at its end."""
        found: list[_Item] = []
        self.need(brackets[0])
        while not self.take(brackets[1]):
            if found:
                self.need(",")
                if comma and self.take(brackets[1]):
                    break
            found.append(item())
        return tuple(found)

    def _labels(self) -> tuple[str, ...]:
        return self._listed(self._label, comma=True)

    def _label(self) -> str:
        if ":" in self.now.text and self.now.kind is Kind.NAME:
            raise self.unexpected()
        token = self.need(Kind.NAME, Kind.STRING)
        return unquoted(token.text) if token.kind is Kind.STRING else token.text

    def _selector(self) -> Part:
        first = self.now
        name = self.take(Kind.NAME) if first.word not in _NO_METRICS else None
        matchers: tuple[LabelMatcher, ...] = ()
        if name is None or self.now.text == "{":
            matchers = self._listed(self._matcher, "{}", comma=True)
        names = (one.text for one in matchers if (one.label, one.operator) == ("__name__", "="))
        metric, matched, window = name.text if name else next(names, ""), self.end, None
        if self.now.text == "[" and self.ahead(2) != ":":
            self.need("[")
            window = self._duration()
            self.need("]")
        offset = self._modifiers()
        return VectorSelector(
            start=first.start,
            end=self.end,
            metric=metric,
            matchers=matchers,
            matched=matched,
            range=window,
            offset=offset,
        )

    def _matcher(self) -> LabelMatcher:
        """Take a matcher; a string alone is the name of the metric."""
        if self.now.kind is Kind.STRING and self.ahead(1) not in _MATCHES:
            return LabelMatcher("__name__", "=", self.need(Kind.STRING).text)
        number = self.take(Kind.NUMBER) if self.now.text.isalpha() else None  # the label may be named `inf`
        label = number.text if number else self._label()
        return LabelMatcher(label, self.need(*_MATCHES).text, self.need(Kind.STRING).text)

    def _subquery(self, of: Part) -> Part:
        self.need("[")
        window = self._duration()
        self.need(":")
        if self.now.text != "]":
            self._duration()
        self.need("]")
        offset = self._modifiers()
        return Subquery(start=of.start, end=self.end, inner=(of,), range=window, offset=offset)

    def _modifiers(self) -> timedelta:
        """Take `offset …` and `@ …`, each once at most; return the offset."""
        offset = timedelta()
        possible = {"offset", "@"}
        while (token := self.now).word in possible:
            possible.remove(self.need(token.word).word)
            sign = self.take("+", "-")
            if token.word == "offset":
                offset = self._duration() * (-1 if sign and sign.text == "-" else 1)
            elif sign is None and self.take("start", "end"):
                self._listed(self.expression)
            else:
                self._duration()
        return offset

    def _duration(self) -> timedelta:
        token = self.need(Kind.DURATION, Kind.NUMBER)
        try:
            return timedelta(seconds=_seconds(token))
        except (ValueError, OverflowError) as error:
            raise PromQLSyntaxError(str(error), token.start) from error


def _seconds(token: Token) -> float:
    """Return the value of a number; of a duration, its seconds."""
    if token.kind is Kind.NUMBER:
        return float(int(token.text, 16)) if token.text[:2] in ("0x", "0X") else float(token.text)
    try:
        return duration(token.text).total_seconds()
    except ValueError as error:
        raise PromQLSyntaxError(str(error), token.start) from error


def _fold(sides: list[Part], one: _Waiting) -> None:
    """Make one part of an operator, or of a sign, and its sides."""
    right = sides.pop()
    if one.sign_at is not None:
        sides.append(Group(start=one.sign_at, end=right.end, inner=(right,), sign=one.operator))
    else:
        left = sides.pop()
        sides.append(
            Binary(
                start=left.start,
                end=right.end,
                inner=(left, right),
                operator=one.operator,
                many=one.many,
                included=one.included,
            )
        )
