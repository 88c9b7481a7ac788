"""This file proves that a line comes out of Slack as it was meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.channels.slack.unescaping import unescape


@pytest.mark.parametrize(
    ("mangled", "meant"),
    [
        pytest.param("node cordon gpu-a04", "node cordon gpu-a04", id="a plain line stays"),
        pytest.param("claim give <@U0ANA00000|ana>", "claim give U0ANA00000", id="a person becomes an id"),
        pytest.param("claim give <@U0ANA00000>", "claim give U0ANA00000", id="a person without a name too"),
        pytest.param("say <#C123|gpu-alerts>", "say C123", id="a channel becomes an id"),
        pytest.param("tell <!subteam^S012|@sre>", "tell S012", id="a group becomes an id"),
        pytest.param(
            "node show <http://gpu-a04.lab|gpu-a04.lab>", "node show gpu-a04.lab", id="a host made a link"
        ),
        pytest.param("open <https://grafana/d/1>", "open https://grafana/d/1", id="a link that was typed"),
        pytest.param("open <https://a/|here>", "open https://a/", id="a link with other words"),
        pytest.param(
            "mail <mailto:ana@lab.org|ana@lab.org>", "mail ana@lab.org", id="an address made a link"
        ),
        pytest.param("logs search a &amp;&amp; b &lt;c&gt;", "logs search a && b <c>", id="entities"),
        pytest.param("say &amp;lt;", "say &lt;", id="an entity that was typed stays one"),
        pytest.param("silence add “a b” ‘c’", "silence add \"a b\" 'c'", id="smart quotes"),
        pytest.param(
            "node cordon x —reason y", "node cordon x --reason y", id="a long dash before an option"
        ),
        pytest.param("node cordon x –reason y", "node cordon x --reason y", id="a shorter one"),
        pytest.param("node cordon x —-reason y", "node cordon x --reason y", id="half a long dash"),
        pytest.param("training launch — sh run.sh", "training launch -- sh run.sh", id="the end of options"),
        pytest.param("a – b–c 1–2", "a -- b–c 1–2", id="dashes within words stay"),
        pytest.param("node\u00a0cordon\u3000x\u200b", "node cordon x", id="odd spaces and invisible signs"),
        pytest.param("`node cordon x`", "node cordon x", id="back-ticks around the whole"),
        pytest.param("```node cordon x```", "node cordon x", id="a fence around the whole"),
        pytest.param("run `a` and `b`", "run `a` and `b`", id="back-ticks within stay"),
        pytest.param("a <b> c", "a <b> c", id="brackets that are not Slack's stay"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_a_line_is_as_it_was_meant(mangled: str, meant: str) -> None:
    assert unescape(mangled) == meant


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    line = unescape(text)
    assert line == line.strip()


@given(st.text("abcdef012 -./=:_\"'", max_size=40))
def test_what_was_typed_plainly_comes_through_slack_and_back(typed: str) -> None:
    escaped = typed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert unescape(escaped) == typed.strip()
