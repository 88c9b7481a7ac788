"""Budgets: what counts as out of service, which budgets a plan falls under, and when it exceeds one."""

from datetime import UTC, datetime

from commands.gates.budget import Budget, BudgetScope, BudgetUse, budget_uses
from commands.gates.picture import BudgetNode, picture_of

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)

NODES = [
    *(BudgetNode(name=f"a{number}", pool="a100", rack=f"r{number % 2}") for number in range(1, 5)),
    BudgetNode(name="a5", pool="a100", rack="r1", out="cordoned by eli", command="node cordon"),
    BudgetNode(name="h1", pool="h100", rack="r0", teams=frozenset({"vision", "speech"})),
    BudgetNode(name="h2", pool="h100", rack="r9", teams=frozenset({"vision"}), is_lately=True),
    BudgetNode(name="h3", pool="h100", rack="r9", out="not ready", teams=frozenset({"vision"})),
]


def uses(
    *budgets: Budget,
    taken: tuple[str, ...],
    recent: tuple[str, ...] = (),
    is_automation: bool = False,
    command: str = "node cordon",
    lately_by: str = "node cordon",
) -> tuple[BudgetUse, ...]:
    before = dict.fromkeys(recent, frozenset({lately_by}))
    picture = picture_of("prod-a", NODES, NOON, soon={}, lately=recent, commands_lately=before)
    return budget_uses(taken, command, picture, budgets, is_automation=is_automation)


def test_nodes_out_of_service_count_whoever_made_them_so() -> None:
    two = Budget(scope=BudgetScope.POOL, of="a100", nodes=2)
    (use,) = uses(two, taken=("a1",))
    assert not use.is_over
    assert str(use.said) == (
        "Budget of pool a100: 1 of 2 nodes out of service (a5: cordoned by eli); this adds 1."
    )
    (use,) = uses(two, taken=("a1", "a2"))
    assert use.is_over


def test_a_node_that_is_out_already_adds_nothing() -> None:
    (use,) = uses(Budget(scope=BudgetScope.CLUSTER, nodes=1), taken=("a5",))
    assert use.adds == []
    assert not use.is_over


def test_a_share_is_rounded_down_and_lets_one_node_out() -> None:
    assert Budget(scope=BudgetScope.POOL, percent=40).limit(5) == 2
    assert Budget(scope=BudgetScope.POOL, percent=39).limit(5) == 1
    assert Budget(scope=BudgetScope.POOL, percent=1).limit(5) == 1
    assert Budget(scope=BudgetScope.POOL).limit(5) is None
    assert Budget(scope=BudgetScope.POOL, nodes=0).limit(5) == 0


def test_each_place_is_counted_by_itself() -> None:
    one_a_rack = Budget(scope=BudgetScope.RACK, nodes=1)
    by_rack = {use.name: use.is_over for use in uses(one_a_rack, taken=("a1", "a2"))}
    assert by_rack == {"r0": False, "r1": True}, "a5 of r1 is out"
    assert [use.name for use in uses(one_a_rack, taken=("h1",))] == ["r0"]


def test_patterns_and_clusters_choose_the_place() -> None:
    assert uses(Budget(scope=BudgetScope.POOL, of="h*", nodes=0), taken=("a1",)) == ()
    assert uses(Budget(scope=BudgetScope.POOL, clusters=("lab",), nodes=0), taken=("a1",)) == ()


def test_what_was_taken_out_in_the_last_hour_counts_though_it_is_back() -> None:
    three = Budget(scope=BudgetScope.CLUSTER, per_hour=4)
    (use,) = uses(three, taken=("a1",), recent=("a2", "a3"))
    assert not use.is_over
    (use,) = uses(three, taken=("a1",), recent=("a2", "a3", "h1"))
    assert use.is_over
    assert "4 of 4 nodes disrupted in the last hour" in str(use.said)
    (use,) = uses(three, taken=("a2",), recent=("a2", "a3", "h1"))
    assert not use.is_over, "a2 is counted once"


def test_a_budget_of_the_settings_takes_the_place_of_that_of_automation() -> None:
    three = Budget(scope=BudgetScope.POOL, of="a*", nodes=3)
    assert [use.limit for use in uses(three, taken=("a1", "h1"), is_automation=True)] == [3, 1]


def test_automation_is_limited_where_nothing_else_says_so_and_people_are_not() -> None:
    assert uses(taken=("h1",)) == ()
    (taken,) = uses(taken=("a1",), is_automation=True)
    assert taken.is_over, "a5 is out"


def test_a_budget_of_a_team_counts_the_nodes_on_which_it_has_work() -> None:
    one = Budget(scope=BudgetScope.TEAM, of="vision", nodes=1)
    (use,) = uses(one, taken=("h1",))
    assert use.is_over
    assert str(use.said) == (
        "Budget of team vision: 1 of 1 node out of service (h3: not ready); this adds 1."
    )
    assert uses(one, taken=("a1",)) == (), "it has no work there"
    both = uses(Budget(scope=BudgetScope.TEAM, nodes=1), taken=("h1",))
    assert [(use.name, use.is_over) for use in both] == [("speech", False), ("vision", True)]


def test_what_the_cluster_shows_as_disrupted_lately_counts_without_a_plan() -> None:
    (use,) = uses(Budget(scope=BudgetScope.POOL, of="h100", per_hour=1), taken=("h1",))
    assert use.in_last_hour == 1, "h2 came back within the hour"
    assert use.is_over


def test_a_budget_of_a_kind_of_action_counts_only_what_that_did() -> None:
    one_drain = Budget(scope=BudgetScope.POOL, nodes=1, commands=("node drain",))
    (use,) = uses(one_drain, taken=("a1",), command="node drain")
    assert (use.out, use.is_over) == ({}, False), "a5 is cordoned, and h3 is not ready: none is drained"
    assert uses(one_drain, taken=("a1",), command="node cordon") == (), "it holds no cordon back"
    (use,) = uses(one_drain, taken=("a1", "a2"), command="node drain")
    assert use.is_over
    assert str(use.said) == ("Budget of pool a100 for `node drain`: 0 of 1 node out of service; this adds 2.")


def test_a_cordon_is_of_its_kind_whoever_made_it_and_adds_a_drain() -> None:
    cordons = Budget(scope=BudgetScope.POOL, nodes=1, commands=("node cordon",))
    (use,) = uses(cordons, taken=("a1",))
    assert (list(use.out), use.is_over) == (["a5"], True)
    drains = Budget(scope=BudgetScope.POOL, nodes=0, commands=("node drain",))
    (use,) = uses(drains, taken=("a5",), command="node drain")
    assert use.is_over, "a node that is cordoned already is drained all the same"


def test_what_a_kind_of_action_disrupted_in_the_last_hour_counts_for_it_alone() -> None:
    reboots = Budget(scope=BudgetScope.CLUSTER, per_hour=1, commands=("node reboot", "node re*"))
    (use,) = uses(reboots, taken=("a1",), recent=("a2",), command="node reboot", lately_by="node cordon")
    assert (use.in_last_hour, use.is_over) == (0, False)
    (use,) = uses(reboots, taken=("a1",), recent=("a2",), command="node reboot", lately_by="node repair")
    assert (use.in_last_hour, use.is_over) == (1, True)


def test_a_budget_of_a_kind_of_action_leaves_that_of_automation_as_it_is() -> None:
    many = Budget(scope=BudgetScope.POOL, nodes=9, commands=("node cordon",))
    found = uses(many, taken=("a1",), is_automation=True)
    assert [use.limit for use in found] == [9, 1]


def test_a_place_whose_name_says_what_it_is_is_named_once() -> None:
    budget = Budget(scope=BudgetScope.RACK, nodes=1)
    said = [
        str(BudgetUse(budget=budget, name=name, limit=1, out={}, adds=("a1",)).said)
        for name in ("rack-d", "d")
    ]
    assert [one.partition(":")[0] for one in said] == ["Budget of rack-d", "Budget of rack d"]
