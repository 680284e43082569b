"""Bounded output: exact counts, whole characters, a capped spill."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from placet.sandbox.execution.output import Capture


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(min_value=8, max_value=64))
def test_c7_kept_and_dropped_bytes_add_up_to_all(chunks: list[bytes], memory: int) -> None:
    capture = Capture(memory=memory)
    for chunk in chunks:
        capture.feed(chunk)
    whole = b"".join(chunks)
    got = capture.captured()
    assert got.total_bytes == len(whole)
    assert got.truncated == (len(whole) > memory)
    if not got.truncated:
        assert (got.text, got.dropped_bytes) == (shown(whole), 0)
    else:
        assert 0 < got.dropped_bytes <= len(whole) - memory + 6
        head, _, tail = got.text.partition(f"\n[... {got.dropped_bytes} bytes dropped here ...]\n")
        assert shown(whole).startswith(head) or whole.decode(errors="surrogateescape").startswith(head.rstrip("�"))
        assert len(tail) <= memory


@given(st.text(max_size=400), st.integers(min_value=8, max_value=64))
def test_text_is_cut_between_characters_only(text: str, memory: int) -> None:
    capture = Capture(memory=memory)
    for byte in text.encode(errors="replace"):
        capture.feed(bytes([byte]))
    assert capture.captured().replaced_bytes == 0


def shown(data: bytes) -> str:
    text = data.decode(errors="surrogateescape")
    return "".join("�" if "\udc80" <= character <= "\udcff" else character for character in text)


def test_c7_a_spill_holds_the_whole_stream_up_to_its_cap(tmp_path: Path) -> None:
    def spill() -> tuple[int, Path]:
        path = tmp_path / "spill"
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), path

    capture = Capture(spill, memory=10, cap=25)
    for number in range(10):
        capture.feed(b"%d%d%d" % (number, number, number))
    capture.close()
    got = capture.captured()
    assert (tmp_path / "spill").read_bytes() == b"0001112223334445556667778"
    assert (got.spill_path, got.spill_truncated, got.total_bytes) == (tmp_path / "spill", True, 30)


def test_short_output_makes_no_spill(tmp_path: Path) -> None:
    capture = Capture(lambda: (-1, tmp_path), memory=10)
    capture.feed(b"0123456789")
    assert capture.captured().spill_path is None


def test_a_spill_that_cannot_be_made_costs_nothing_else() -> None:
    def full() -> tuple[int, Path]:
        raise OSError(28, "No space left on device")

    capture = Capture(full, memory=4)
    capture.feed(b"0123456789")
    assert (capture.captured().dropped_bytes, capture.captured().spill_path) == (6, None)
