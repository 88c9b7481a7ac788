"""Values that the chart refuses: by its templates, by its schema, and as the program would."""

from collections.abc import Callable

import pytest

from tests.helm.conftest import RefusedError

_REFUSED = [
    pytest.param("replicaCount=2", "at most one replica", id="two replicas"),
    pytest.param("image.repository=", "set the image's repository", id="no image"),
    pytest.param("secret.name=", "name of an existing Secret", id="no secret"),
    pytest.param("http.tokens=[]", "set at least one", id="no token"),
    pytest.param("settings.http.listen=:80", "is set by the chart", id="another port"),
    pytest.param("settings.store.url=x", "is set by the chart", id="another store"),
    pytest.param(
        "enabledCommands={node explode}", "`node explode` is not a command", id="an unknown command"
    ),
]


@pytest.mark.parametrize(("flag", "error"), _REFUSED)
def test_the_templates_refuse_it_when_the_schema_is_skipped(
    template: Callable[..., str], flag: str, error: str
) -> None:
    with pytest.raises(RefusedError, match=error):
        template(*_given(flag), "--skip-schema-validation")


@pytest.mark.parametrize(("flag", "_error"), _REFUSED)
def test_the_schema_refuses_it(template: Callable[..., str], flag: str, _error: str) -> None:
    with pytest.raises(RefusedError, match="don't meet the specifications of the schema"):
        template(*_given(flag))


def _given(flag: str) -> tuple[str, str]:
    return ("--set-json" if flag.endswith("[]") else "--set", flag)


@pytest.mark.parametrize(
    "flag",
    [
        pytest.param("settings.slack.bot_token=xoxb-1", id="Slack's token"),
        pytest.param("settings.clusters[0].elasticsearch.api_key=k", id="a key in a list"),
    ],
)
def test_a_secret_in_the_values_is_refused(template: Callable[..., str], flag: str) -> None:
    with pytest.raises(RefusedError, match="secrets are not allowed in the values") as refused:
        template("--set", flag)
    assert "xoxb-1" not in str(refused.value)


def test_an_unknown_value_is_refused(template: Callable[..., str]) -> None:
    with pytest.raises(RefusedError, match="additional properties 'replicas' not allowed"):
        template("--set", "replicas=1")


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        pytest.param(
            "settings.slak.channel=C0123", "additional properties 'slak' not allowed", id="a section"
        ),
        pytest.param(
            "settings.clusters[0].prometheus.utl=x", "additional properties 'utl' not allowed", id="a key"
        ),
        pytest.param("settings.timezone=1", "got number, want string", id="a number for a text"),
        pytest.param("settings.rules.interval[0]=5m", "got array, want string", id="a list for a duration"),
        pytest.param(
            "settings.http.listen=x", "additional properties 'http' not allowed", id="the chart's own"
        ),
        pytest.param("settings.timezone=Asia/Shangai", "settings/timezone", id="a time zone"),
        pytest.param("settings.rules.packs[0]=nodes", "settings/rules/packs/0", id="a pack"),
        pytest.param(
            "settings.teams.sre.commands[0]=node corden", "settings/teams/sre/commands/0", id="a verb"
        ),
        pytest.param("settings.teams.sre.commands[0]=nod *", "settings/teams/sre/commands/0", id="a noun"),
        pytest.param(
            "settings.clusters[0].prometheus.url=prometheus:9090",
            "prometheus/url",
            id="an address without http",
        ),
        pytest.param("settings.slack.channel=gpu-alerts", "slack/channel", id="a channel's name for its id"),
        pytest.param("settings.rules.interval=15 seconds", "settings/rules/interval", id="a duration"),
    ],
)
def test_settings_that_the_program_refuses_are_refused(
    template: Callable[..., str], flag: str, expected: str
) -> None:
    with pytest.raises(RefusedError, match=expected):
        template("--set", flag)
