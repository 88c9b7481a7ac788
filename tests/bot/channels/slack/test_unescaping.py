"""Lines from Slack are restored as they were typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.channels.slack.unescaping import unescape


@pytest.mark.parametrize(
    ("received", "typed"),
    [
        pytest.param("node cordon gpu-a04", "node cordon gpu-a04", id="a plain line is unchanged"),
        pytest.param("owner is <@U0ANA00000|ana>", "owner is U0ANA00000", id="a person becomes an id"),
        pytest.param("owner is <@U0ANA00000>", "owner is U0ANA00000", id="a person without a name too"),
        pytest.param("post <#C123|gpu-alerts>", "post C123", id="a channel becomes an id"),
        pytest.param("page <!subteam^S012|@sre>", "page S012", id="a group becomes an id"),
        pytest.param(
            "node show <http://gpu-a04.lab|gpu-a04.lab>", "node show gpu-a04.lab", id="a host as a link"
        ),
        pytest.param("open <https://grafana/d/1>", "open https://grafana/d/1", id="a link that was typed"),
        pytest.param("open <https://a/|here>", "open https://a/", id="a link with another text"),
        pytest.param("mail <mailto:ana@lab.org|ana@lab.org>", "mail ana@lab.org", id="an address as a link"),
        pytest.param("logs search a &amp;&amp; b &lt;c&gt;", "logs search a && b <c>", id="entities"),
        pytest.param("say &amp;lt;", "say &lt;", id="an entity that was typed is unchanged"),
        pytest.param("silence add “a b” ‘c’", "silence add \"a b\" 'c'", id="smart quotes"),
        pytest.param(
            "node cordon x —reason y", "node cordon x --reason y", id="a long dash before an option"
        ),
        pytest.param("node cordon x –reason y", "node cordon x --reason y", id="a short dash"),
        pytest.param("node cordon x —-reason y", "node cordon x --reason y", id="a long dash and a hyphen"),
        pytest.param("training launch — sh run.sh", "training launch -- sh run.sh", id="the end of options"),
        pytest.param("a – b–c 1–2", "a -- b–c 1–2", id="dashes within words are unchanged"),
        pytest.param("node\u00a0cordon\u3000x\u200b", "node cordon x", id="odd and zero-width spaces"),
        pytest.param("`node cordon x`", "node cordon x", id="backticks around the line"),
        pytest.param("```node cordon x```", "node cordon x", id="a code fence around the line"),
        pytest.param("run `a` and `b`", "run `a` and `b`", id="backticks within are unchanged"),
        pytest.param("a <b> c", "a <b> c", id="brackets that are not Slack's are unchanged"),
        pytest.param("", "", id="an empty line"),
    ],
)
def test_a_line_is_restored_as_it_was_typed(received: str, typed: str) -> None:
    assert unescape(received) == typed


@given(st.text())
def test_any_text_can_be_unescaped(text: str) -> None:
    line = unescape(text)
    assert line == line.strip()


@given(st.text("abcdef012 -./=:_\"'", max_size=40))
def test_plain_text_survives_slacks_escaping(typed: str) -> None:
    escaped = typed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert unescape(escaped) == typed.strip()
