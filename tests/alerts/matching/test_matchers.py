"""Label matchers: parsed and evaluated as in Alertmanager, and printed so that they parse to the same matchers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.matching import Matcher, Operator, matches, parse_matchers


def parsed(text: str) -> list[tuple[str, str, str]]:
    return [(one.name, one.operator.value, one.value) for one in parse_matchers(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('team="vision"', [("team", "=", "vision")]),
        ("team=vision", [("team", "=", "vision")]),
        ('{team="vision"}', [("team", "=", "vision")]),
        ("{}", []),
        ("", []),
        ('a="b",c!="d"', [("a", "=", "b"), ("c", "!=", "d")]),
        (' a = "b" , c =~ "d|e" , ', [("a", "=", "b"), ("c", "=~", "d|e")]),
        ('a!~"x.*"', [("a", "!~", "x.*")]),
        ('a="b,c"', [("a", "=", "b,c")]),
        ('a="say \\"no\\""', [("a", "=", 'say "no"')]),
        ('a="two\\nlines"', [("a", "=", "two\nlines")]),
        ('a="back\\\\slash"', [("a", "=", "back\\slash")]),
        ('a="\\\\n"', [("a", "=", "\\n")]),
        ("a=", [("a", "=", "")]),
        ('a="{}"', [("a", "=", "{}")]),
    ],
)
def test_matchers_are_parsed(text: str, found: list[tuple[str, str, str]]) -> None:
    assert parsed(text) == found


@pytest.mark.parametrize("text", ["team", '"vision"', "1a=b", 'a="b" c="d"', ",a=b", 'a="b', "a-b=c"])
def test_text_that_is_not_a_matcher_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="is not a matcher: write it like"):
        parse_matchers(text)


def test_an_invalid_pattern_is_named() -> None:
    with pytest.raises(ValueError, match=r"`\(` is not a regular expression"):
        parse_matchers('a=~"("')


@pytest.mark.parametrize(
    ("text", "labels", "fits"),
    [
        ('a="b"', {"a": "b"}, True),
        ('a="b"', {"a": "bb"}, False),
        ('a=~"b"', {"a": "bb"}, False),
        ('a=~"b.*"', {"a": "bb"}, True),
        ('a=~"b|c"', {"a": "xc"}, False),
        ('a=""', {}, True),
        ('a!="b"', {}, True),
        ('a=~".+"', {}, False),
        ('a=~".*"', {}, True),
        ('a!~"b"', {"a": "b"}, False),
        ('a=~"x.y"', {"a": "x\ny"}, False),
    ],
)
def test_a_matcher_fits_labels(text: str, labels: dict[str, str], fits: bool) -> None:
    assert matches(parse_matchers(text), labels) is fits


def test_all_matchers_must_fit_and_no_matchers_fit_everything() -> None:
    both = parse_matchers("a=b,c=d")

    assert matches(both, {"a": "b", "c": "d"})
    assert not matches(both, {"a": "b"})
    assert matches((), {"a": "b"})


names = st.from_regex(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,8}", fullmatch=True)
texts = st.text(max_size=12)
plain_matchers = st.builds(
    Matcher, name=names, operator=st.sampled_from([Operator.EQUAL, Operator.NOT_EQUAL]), value=texts
)
patterns = st.builds(
    Matcher,
    name=names,
    operator=st.sampled_from([Operator.MATCHES, Operator.NOT_MATCHES]),
    value=st.sampled_from(["a|b", "x.*", '"', "", "\\d+", "[^,]", "a{2}"]),
)


@given(st.lists(plain_matchers | patterns, max_size=5), st.booleans())
def test_printed_matchers_parse_to_the_same_matchers(found: list[Matcher], in_braces: bool) -> None:
    text = ",".join(map(str, found))

    assert parse_matchers(f"{{{text}}}" if in_braces else text) == tuple(found)


@given(plain_matchers, st.dictionaries(names, texts, max_size=3))
def test_not_equal_is_the_opposite_of_equal(one: Matcher, labels: dict[str, str]) -> None:
    other = Operator.NOT_EQUAL if one.operator is Operator.EQUAL else Operator.EQUAL

    assert one.fits(labels) is not Matcher(name=one.name, operator=other, value=one.value).fits(labels)


@pytest.mark.parametrize("pattern", ["(a|a)*c", "(a+)+", "a*" * 30, "(.*)-" * 20, "a?" * 30 + "a" * 30])
def test_no_pattern_takes_exponential_time(pattern: str) -> None:
    (matcher,) = parse_matchers(f'pod=~"{pattern}"')

    assert not matcher.fits({"pod": "a" * 28 + "b" * 200})
