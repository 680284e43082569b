"""Each rule that the models of the ask and of parallel calls switch has a test that tries what breaks without it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.model.ask import Ask
from tests.model.calls import Calls

TESTS = Path(__file__).resolve().parents[1]

TRIED = {
    "ask": {
        "one_truth": "approval/test_inbox.py::test_apr_06_of_twenty_answers_at_once_one_wins",
        "durable_abort": "approval/test_dispatcher.py::test_a13_an_answer_that_meets_a_stop_in_the_log_is_cancelled",
        "fail_stop": "approval/test_dispatcher_limits.py::"
        "test_a16_a_store_that_stays_away_ends_the_worker_and_no_outcome_is_returned",
        "policy_at_asked": "approval/test_dispatcher.py::test_a17_a_policy_change_never_answers_an_open_ask",
        "hide_never": "tools/test_consume.py::"
        "test_a_logged_ask_under_never_without_a_decision_is_rejected_and_never_shown",
        "full_table": "tools/test_consume.py::test_a_call_found_decided_has_the_text_of_its_outcome",
        "signed_mode": "tools/test_consume.py::test_the_signed_mode_counts_though_the_sessions_mode_changed",
        "subject_from_log": "tools/test_consume.py::test_a_re_armed_ask_has_its_id_and_its_logged_subject",
        "bad_digest_refused": "approval/test_inbox.py::"
        "test_a27_an_answer_that_cannot_be_one_is_refused_and_the_ask_stays_open",
        "answer_key": "approval/test_inbox.py::test_the_same_key_again_gets_the_same_receipt",
        "recheck": "tools/test_consume.py::test_the_signal_is_read_once_more_between_the_commit_and_the_body",
        "asker_gone": "approval/test_people.py::test_recovery_cancels_an_ask_whose_asker_is_gone",
        "honour": "tools/test_consume.py::test_an_unused_grant_is_honoured_by_the_next_worker",
    },
    "calls": {
        "position_key": "tools/test_batch.py::test_equal_call_ids_and_equal_arguments_are_two_calls",
        "as_they_come": "tools/test_batch.py::test_results_are_written_as_they_come",
        "durable_abort": "approval/test_inbox.py::test_apr_02_an_answer_between_the_stop_and_its_cancelled_is_refused",
        "abort_checked": "tools/test_pipeline.py::"
        "test_b13_a_stop_in_the_log_that_the_worker_has_not_heard_of_refuses_tool_started",
        "full_table": "tools/test_consume.py::test_a_call_found_started_is_outcome_unknown",
        "signal_from_log": "tools/test_consume.py::test_a_worker_that_comes_after_the_stop_starts_nothing",
    },
}


@pytest.mark.parametrize("model", [Ask, Calls], ids=lambda model: str(model.title))
def test_no_rule_of_a_model_is_without_a_test(model: type[Ask] | type[Calls]) -> None:
    assert set(TRIED[model.title]) == set(model.fixes)


@pytest.mark.parametrize("name", sorted({name for rules in TRIED.values() for name in rules.values()}))
def test_the_test_of_a_rule_is_there(name: str) -> None:
    path, function = name.split("::")
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.AsyncFunctionDef)}
