"""A log as JSON lines, whole and broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.session import Event, SessionId, StoreDamaged
from placet.session.codec import freeze
from placet.session.export import lines, parse

EVENTS = [
    Event(SessionId("s-1"), n, 1000 + n, "notice", freeze({"text": text, "n": [n]}), f"notice:{n}", n + 1)
    for n, text in enumerate(["plain", "é\ud800\x00\u2028\n", "\\"])
]
WHOLE = lines(EVENTS).encode()


def test_a_log_comes_back_from_its_lines() -> None:
    parsed = parse(WHOLE)
    assert list(parsed.events) == EVENTS and parsed.dropped is None
    assert parse(b"").events == ()


def test_each_event_is_one_line() -> None:
    assert WHOLE.count(b"\n") == len(EVENTS) and WHOLE.endswith(b"\n")


@pytest.mark.parametrize("cut", range(WHOLE.rindex(b"\n", 0, -1) + 2, len(WHOLE)))
def test_ses_05_a_half_written_last_record_is_dropped_and_told(cut: int) -> None:
    parsed = parse(WHOLE[:cut])
    assert list(parsed.events) == EVENTS[:2] and parsed.dropped is not None


def test_ses_05_a_run_of_nul_bytes_at_the_end_is_dropped_and_told() -> None:
    for content, count in ((WHOLE + bytes(512), 3), (WHOLE[:-40] + bytes(40), 2)):
        parsed = parse(content)
        assert list(parsed.events) == EVENTS[:count] and parsed.dropped is not None


@given(st.integers(0, WHOLE.rindex(b"\n", 0, -1) - 1), st.sampled_from([0, 10, 34, 255]))
def test_f11_damage_in_the_middle_is_refused_or_changes_a_value_but_never_the_length(at: int, byte: int) -> None:
    content = bytearray(WHOLE)
    content[at] = byte
    try:
        parsed = parse(bytes(content))
    except StoreDamaged as error:
        assert error.where.startswith("line ")
    else:
        assert len(parsed.events) == 3


def test_f11_a_line_missing_in_the_middle_is_named() -> None:
    rows = WHOLE.splitlines(keepends=True)
    with pytest.raises(StoreDamaged, match="line 2"):
        parse(rows[0] + rows[2])


def test_f11_a_broken_line_in_the_middle_is_named() -> None:
    rows = WHOLE.splitlines(keepends=True)
    with pytest.raises(StoreDamaged, match="line 2"):
        parse(rows[0] + b'{"half":\n' + rows[2])


def test_events_of_several_sessions_may_stand_in_one_file() -> None:
    other = [Event(SessionId("s-2"), 0, 1, "notice", {}, "k", 1)]
    assert len(parse((lines(EVENTS[:1]) + lines(other) + lines(EVENTS[1:])).encode()).events) == 4
