"""Reasons of cordons, which stand in annotations of nodes: ours in the reader's language, a person's as written."""

from collections.abc import Mapping

import pytest

from bot.language.message_catalogue import catalogue
from commands.core.cordoned_nodes import BY, CORDON_INCIDENT, CORDON_VOLUME, REASON, describe_cordon
from tests.support.objects import node


@pytest.mark.parametrize(
    ("annotations", "chinese"),
    [
        pytest.param(
            {REASON: "volume vision/ckpt is frozen", CORDON_VOLUME: "vision/ckpt"},
            "卷 vision/ckpt 已冻结",
            id="a frozen volume",
        ),
        pytest.param({REASON: "incident i7", CORDON_INCIDENT: "i7"}, "故障 i7", id="an incident"),
        pytest.param({REASON: "no reason given"}, "未给出原因", id="none"),
        pytest.param(
            {REASON: "volume vision/old is frozen", CORDON_VOLUME: "vision/ckpt"},
            "volume vision/old is frozen",
            id="written over ours",
        ),
        pytest.param(
            {REASON: "swap the fan", CORDON_INCIDENT: "i7"}, "swap the fan", id="of a person, for an incident"
        ),
    ],
)
def test_the_reason_of_a_cordon_is_ours_only_where_we_wrote_it(
    annotations: Mapping[str, str], chinese: str
) -> None:
    cordoned = node("gpu-a04", spec={"unschedulable": True}, annotations={BY: "dana", **annotations})
    assert catalogue("zh").say(describe_cordon(cordoned)) == f"gpu-a04（{chinese}、dana）"
