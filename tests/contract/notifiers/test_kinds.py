"""A kind of channel has all its parts: a test names the step of CONTRIBUTING's "Add a notifier" that was forgotten."""

from pathlib import Path

from bot.channels.channel_catalogue import CHANNEL_KINDS
from bot.settings.channels import ChannelSettings
from bot.settings.schema import Settings
from tests.contract.notifiers.conftest import SITES
from tests.support.quick_yaml import from_yaml

ROOT = Path(__file__).parents[3]
OWN_SECTIONS = {"slack"}  # kinds with a section of their own in the settings
WITHOUT_SETTINGS = {"console"}


def test_every_kind_is_in_the_catalogue_and_in_the_settings() -> None:
    configured = set(ChannelSettings.model_fields) | OWN_SECTIONS
    assert set(Settings.model_fields) >= OWN_SECTIONS
    missing = configured - set(CHANNEL_KINDS)
    assert not missing, f"bot/channels/channel_catalogue.py does not open {missing}"
    unset = set(CHANNEL_KINDS) - configured - WITHOUT_SETTINGS
    assert not unset, f"bot/settings/channels.py: ChannelSettings has no field for {unset}"


def test_every_kind_has_a_folder() -> None:
    for file in ("notifier.py", "opening.py"):
        missing = [kind for kind in CHANNEL_KINDS if not (ROOT / "bot" / "channels" / kind / file).is_file()]
        assert not missing, f"bot/channels/<kind>/{file} is missing for {missing}"


def test_every_kind_has_tests_of_its_own() -> None:
    missing = [
        kind
        for kind in set(CHANNEL_KINDS) - WITHOUT_SETTINGS
        if not (ROOT / "tests" / "bot" / "channels" / kind).is_dir()
    ]
    assert not missing, f"tests/bot/channels/<kind>/ is missing for {missing}"


def test_every_kind_is_in_this_suite() -> None:
    missing = set(CHANNEL_KINDS) - set(SITES)
    assert not missing, f"tests/contract/notifiers/conftest.py has no site for {missing}"


def test_every_kind_is_explained() -> None:
    page = (ROOT / "docs" / "channels.md").read_text(encoding="utf-8")
    missing = [kind for kind in CHANNEL_KINDS if f"`{kind}:" not in page]
    assert not missing, f"docs/channels.md does not mention {missing}"
    meanings = from_yaml((ROOT / "docs" / "meanings.yaml").read_text(encoding="utf-8"))
    unexplained = [kind for kind in ChannelSettings.model_fields if f"channels.<name>.{kind}" not in meanings]
    assert not unexplained, f"docs/meanings.yaml does not explain channels.<name>.{unexplained}"
