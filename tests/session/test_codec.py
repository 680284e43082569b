"""Escaped form, canonical form, and the check that nothing is lost."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.session import NotLossless
from placet.session.codec import canonical, dumps, escape, freeze, loads, lossless, unescape

# every code point Python can hold, with the ones that matter here made likely
CHARACTERS = st.one_of(
    st.characters(), st.characters(categories=["Cs"]), st.sampled_from("\\\x00u\u2028\u2029d8f0\ud800\udfff")
)
TEXTS = st.text(CHARACTERS, max_size=30)
WHOLE_TEXTS = st.text(max_size=20)
LEAVES = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | WHOLE_TEXTS
NUMBERS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: str(x) != "-0.0")
VALUES = st.recursive(
    LEAVES | NUMBERS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WHOLE_TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(TEXTS)
def test_unescape_gives_the_original_back(text: str) -> None:
    assert unescape(escape(text)) == text


@given(TEXTS, TEXTS)
def test_escape_is_injective(one: str, two: str) -> None:
    assert (escape(one) == escape(two)) == (one == two)


@given(TEXTS)
def test_escaped_text_holds_nothing_that_a_channel_cannot_carry(text: str) -> None:
    escaped = escape(text)
    escaped.encode("utf-8")
    assert not set(escaped) & set("\x00\u2028\u2029")


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain\n\ttext é 😀", "plain\n\ttext é 😀"),
        ("\\", "\\\\"),
        ("\\u0000", "\\\\u0000"),
        ("\x00", "\\u0000"),
        ("a\u2028b\u2029", "a\\u2028b\\u2029"),
        ("\ud800", "\\ud800"),
        ("\udfff", "\\udfff"),
        ("\x01\x1b\u202e", "\x01\x1b\u202e"),
    ],
)
def test_the_escaped_form_is_exactly_as_specified(text: str, escaped: str) -> None:
    assert escape(text) == escaped


@pytest.mark.parametrize("text", ["\\", "\\x", "\\u0041", "\\uD800", "\x00", "\u2028", "a\\", "\\u00", "\\\\\\"])
def test_a_text_that_escape_never_makes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no escaped text"):
        unescape(text)


@given(TEXTS)
def test_unescape_accepts_only_what_escape_makes(text: str) -> None:
    try:
        plain = unescape(text)
    except ValueError:
        return
    assert escape(plain) == text


@given(VALUES)
def test_a_lossless_value_comes_back_from_json_as_it_is(value: Any) -> None:
    lossless(value)
    text = dumps(value)
    text.encode("utf-8")
    assert loads(text) == value == json.loads(text)


@given(st.text(CHARACTERS, max_size=20))
def test_every_text_is_lossless_unless_it_splits_a_pair(text: str) -> None:
    try:
        lossless(text)
    except NotLossless:
        assert any("\ud800" <= a <= "\udbff" and "\udc00" <= b <= "\udfff" for a, b in pairwise(text))
        return
    assert loads(dumps(text)) == text


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [1, {"b": float("nan")}]}, "$.a[1].b"),
        ([float("inf")], "$[0]"),
        ({"zero": -0.0}, "$.zero"),
        ({"big": 2**53}, "$.big"),
        ({"n": {1: 2}}, "$.n"),
        ([(1, 2)], "$[0]"),
        ({"x": b"bytes"}, "$.x"),
        ([{1, 2}], "$[0]"),
        (["\ud83d\ude00"], "$[0]"),
    ],
)
def test_f2_what_json_would_change_is_refused_and_named(value: Any, path: str) -> None:
    with pytest.raises(NotLossless) as refusal:
        lossless(value)
    assert refusal.value.path == path


def test_f2_a_cycle_and_deep_nesting_are_refused() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    deep: list[Any] = []
    for _ in range(101):
        deep = [deep]
    for value in (cycle, deep):
        with pytest.raises(NotLossless, match="nested"):
            lossless(value)


@given(VALUES)
def test_the_canonical_form_does_not_depend_on_the_order_of_keys(value: Any) -> None:
    def turned(item: Any) -> Any:
        if isinstance(item, dict):
            return {name: turned(item[name]) for name in reversed(item)}
        return [turned(one) for one in item] if isinstance(item, list) else item

    assert canonical(turned(value)) == canonical(value)
    assert canonical(loads(dumps(value))) == canonical(value)


def test_the_canonical_form_is_that_of_rfc_8785() -> None:
    # the example of RFC 8785, section 3.2.2, without its number beyond 2^53
    value = {
        "numbers": [1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    assert canonical(value) == (
        b'{"literals":[null,true,false],"numbers":[1e+30,4.5,0.002,1e-27],'
        b'"string":"\xe2\x82\xac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_keys_are_ordered_by_utf_16_as_javascript_does() -> None:
    assert canonical({"\U0001f600": 1, "\ufb33": 2}) == '{"\U0001f600":1,"\ufb33":2}'.encode()


def test_a_lone_surrogate_has_no_canonical_form() -> None:
    with pytest.raises(NotLossless):
        canonical({"text": "\ud800"})
    assert canonical({"text": escape("\ud800")}) == b'{"text":"\\\\ud800"}'


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":2}', "[NaN]", "[Infinity]", "[" * 200_000, "{", '{"x":[{"b":1,"b":1}]}', ""]
)
def test_broken_json_and_equal_keys_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        loads(text)


@given(VALUES)
def test_f1_a_frozen_value_equals_its_original_and_refuses_changes(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    if isinstance(frozen, dict):
        with pytest.raises(TypeError):
            frozen["x"] = 1
        with pytest.raises(TypeError):
            frozen.clear()
    if isinstance(frozen, list):
        with pytest.raises(TypeError):
            frozen.append(1)
        with pytest.raises(TypeError):
            frozen += [1]
