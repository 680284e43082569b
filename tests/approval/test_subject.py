"""The subject: exactly one shape, exactly one digest (design 5)."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.approval import CallKey, Denied, Subject, SubjectInvalid, SubjectTooLarge, build, digest_of, parse_arguments
from placet.approval.subject import MAX_SUBJECT, CoveredFile
from placet.session import AskId, SessionId
from placet.session.codec import escape, lossless


def subject(**more: object) -> Subject:
    fields: dict[str, object] = {
        "ask": AskId("a-1"),
        "session": SessionId("s-1"),
        "agent": "deepseek-chat",
        "call": CallKey(1, 2, 3),
        "tool": "bash",
        "tool_digest": "0" * 64,
        "arguments": '{"command":"ls"}',
        "cwd": "/srv/www",
        "cwd_id": "64768:12",
        "from_mode": "read-only",
        "to_mode": "workspace-write",
    }
    return build(**(fields | more))  # type: ignore[arg-type]


def test_the_shape_is_exactly_that_of_the_design() -> None:
    denied = Denied("/etc/x", 1_700_000_000_000, CallKey(1, 1, 0))
    files = (CoveredFile("run.sh", "ab" * 32, "echo\n"),)
    assert subject(denied=denied, files=files).json() == {
        "v": 1,
        "ask": "a-1",
        "session": "s-1",
        "agent": "deepseek-chat",
        "call": {"turn": 1, "step": 2, "position": 3},
        "tool": "bash",
        "toolDigest": "0" * 64,
        "arguments": '{"command":"ls"}',
        "cwd": "/srv/www",
        "cwdId": "64768:12",
        "fromMode": "read-only",
        "toMode": "workspace-write",
        "denied": {"path": "/etc/x", "time": 1_700_000_000_000, "call": {"turn": 1, "step": 1, "position": 0}},
        "files": [{"path": "run.sh", "sha256": "ab" * 32, "text": "echo\n"}],
    }


def test_what_is_absent_is_null_and_never_left_out() -> None:
    data = subject(to_mode=None).json()
    assert (data["toMode"], data["denied"], data["files"]) == (None, None, [])


def test_the_digest_is_that_of_the_canonical_json() -> None:
    data = subject().json()
    assert all(isinstance(value, str | int | dict | list | None) for value in data.values())
    plain = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert subject().digest == sha256(plain).hexdigest() == digest_of(json.loads(plain))


@pytest.mark.parametrize(
    "change",
    [
        {"ask": AskId("a-2")},
        {"agent": "other"},
        {"call": CallKey(1, 2, 4)},
        {"tool_digest": "1" * 64},
        {"arguments": '{"command":"ls "}'},
        {"cwd": "/srv/www2"},
        {"cwd_id": "64768:13"},
        {"to_mode": "danger-full-access"},
        {"denied": Denied(None, 1, CallKey(1, 1, 0))},
        {"files": (CoveredFile("a", "0", ""),)},
    ],
)
def test_every_field_is_in_the_digest(change: dict[str, object]) -> None:
    assert subject(**change).digest != subject().digest


def test_a_logged_subject_comes_back_as_it_was() -> None:
    there = subject(denied=Denied("/x", 5, CallKey(1, 1, 0)), files=(CoveredFile("a", "0", "b"),))
    assert Subject.of(json.loads(json.dumps(there.json()))) == there


@pytest.mark.parametrize("change", [{"v": 2}, {"extra": 1}, {"toMode": ...}])
def test_a_subject_of_another_shape_is_refused(change: dict[str, object]) -> None:
    data = {**subject().json(), **change}
    if change.get("toMode") is ...:
        del data["toMode"]
    with pytest.raises(SubjectInvalid):
        Subject.of(data)


def test_the_limit_is_one_mebibyte_of_canonical_json() -> None:
    room = MAX_SUBJECT - len(json.dumps(subject(arguments="").json(), separators=(",", ":")))
    subject(arguments="x" * room)
    with pytest.raises(SubjectTooLarge):
        subject(arguments="x" * (room + 1))


def test_a_strange_folder_and_agent_are_escaped() -> None:
    there = subject(cwd="/a\udcff\\\u2028", agent="m\0")
    assert (there.cwd, there.agent) == ("/a\\udcff\\\\\\u2028", "m\\u0000")
    assert len(there.digest) == 64


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"n":1152921504606846977}', {"n": 2**60 + 1}),
        ('{"n":-0.0,"m":1e3}', {"n": -0.0, "m": 1000.0}),
        ('{"a":{"b":[1,{"c":null}]}}', {"a": {"b": [1, {"c": None}]}}),
        ('{"s":"\\\\ud800"}', {"s": "\ud800"}),
        (' {"s" : "x"} ', {"s": "x"}),
    ],
)
def test_arguments_are_parsed_exactly(text: str, value: dict[str, object]) -> None:
    assert parse_arguments(text) == value


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":1}', '{"x":{"a":1,"a":2}}', "[1]", "null", "", "{", '{"a":Infinity}', '{"a":1e999}', "\\x"]
)
def test_what_is_no_object_with_unique_keys_is_refused(text: str) -> None:
    with pytest.raises(SubjectInvalid):
        parse_arguments(text)


@pytest.mark.parametrize("digits", [1001, 5000, 100_000])
def test_a_very_long_number_is_refused_in_words_of_ours(digits: int) -> None:
    with pytest.raises(SubjectInvalid, match=f"hold a number of {digits} digits; at most 1000 are taken") as refusal:
        parse_arguments('{"n":' + "9" * digits + "}")
    assert "sys." not in str(refusal.value)


def test_a_long_number_stays_exact() -> None:
    assert parse_arguments('{"n":' + "9" * 1000 + "}") == {"n": 10**1000 - 1}


@given(st.text())
def test_any_text_of_a_model_can_be_signed(text: str) -> None:
    there = subject(arguments=escape(text))
    lossless(there.json())
    assert Subject.of(json.loads(json.dumps(there.json()))).digest == there.digest


@given(st.text(), st.text())
def test_different_texts_never_have_one_digest(one: str, other: str) -> None:
    same = subject(arguments=escape(one)).digest == subject(arguments=escape(other)).digest
    assert same is (one == other)
