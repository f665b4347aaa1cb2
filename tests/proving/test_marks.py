"""Options with check boxes: what is ticked proves, and nothing else."""

import pytest
from visualproof_server.model.report import Status

from proving.claims import codes, result_of

PLAN = ["Plan:     ☐ Basic     ☒ Plus     ☐ Premium"]
SMOKER = ["Smoker:     ☐ Yes     ☒ No"]
PAIR = ["Smoker:     ☒ Yes     ☒ No"]


@pytest.mark.parametrize("kind", ["choice", "text"])
def test_an_option_is_proven_by_its_own_mark(kind: str) -> None:
    assert result_of(PLAN, "Plus", kind=kind).status is Status.VERIFIED
    for option in ("Basic", "Premium"):
        for labels in ((), ("Plan",)):
            wrong = result_of(PLAN, option, kind=kind, labels=labels)
            assert wrong.status is not Status.VERIFIED, (option, labels)
    assert "NOT_TICKED" in codes(result_of(PLAN, "Basic", kind=kind))


def test_a_choice_at_its_label_is_the_ticked_option() -> None:
    assert result_of(PLAN, "Plus", kind="choice", labels=("Plan",)).status is Status.VERIFIED


def test_a_yes_or_no_is_the_option_that_is_ticked() -> None:
    right = result_of(SMOKER, False, kind="boolean", labels=("Smoker",))
    assert right.status is Status.VERIFIED
    for lines in (SMOKER, PAIR):
        wrong = result_of(lines, True, kind="boolean", labels=("Smoker",))
        assert wrong.status is not Status.VERIFIED


def test_two_ticked_options_and_one_without_a_box_prove_nothing() -> None:
    both = ["Plan:     ☒ Basic     ☒ Plus"]
    lost = ["Plan:     Basic     ☐ Plus"]
    for lines in (both, lost):
        assert result_of(lines, "Basic", kind="choice").status is not Status.VERIFIED
