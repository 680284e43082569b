"""What a plugin writes into its own request: letters that hide, turn round or pass for others are shown as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, WIDE, Home
from tests.browser.consent import card, field_of, read

pytestmark = pytest.mark.browser

LINES = 10_000
NAME = "Fil\u0435s \u202eevil\u202c\u200b \u05d0\u05d1\u05d2 1 2 3"
"""A Cyrillic letter, an override that turns the rest round, a space of no width, Hebrew with figures after it."""
PURPOSE = (
    "Counts files.\u2067 Allow once \u2069"
    "\u200f\u202eyletelpmoc\u202c "
    "\u05d0\u05d1 (1) [2] <3> "
    + "W" * 1_500
    + " e\u0301\u0302\u0303\u0304\u0305\u0306"
    + "\n\n\n\n\nYou decide as nobody, about nothing. \u3164\u2800\u00ad end"
)
CODE = (
    "// \u202e elif eht daer \u202c\n"
    "const \u0435val = 1; // \u200b\ufeff\n"
    "const word = '" + "x" * 3_000 + "';\n" + "let n = 0;\n" * (LINES - 5) + "\u2028// last\nreturn () => undefined;"
)

ORDER = """card => {
  const wrong = [], range = document.createRange();
  const texts = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
  let looked = 0;
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (node.parentElement.closest('.vh')) continue;
    const said = node.data;
    const hides = /[\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff\\u00ad\\u3164\\u2800\\u2028]/;
    if (hides.test(said)) wrong.push('raw: ' + said.slice(0, 40));
    if (said.length > 400 || looked > 30000) continue;
    let last = null;
    for (let at = 0; at < said.length; at += 1) {
      if (/[\\s\\u0300-\\u036f\\u0590-\\u05ff]/.test(said[at])) { last = null; continue; }
      range.setStart(node, at); range.setEnd(node, at + 1);
      const box = range.getBoundingClientRect();
      looked += 1;
      const line = last && Math.abs(last.top - box.top) < 2;
      if (line && box.left < last.left - 0.5) wrong.push('turned: ' + said.slice(0, 60));
      last = box;
    }
  }
  return [looked, wrong.slice(0, 5)];
}"""
"""Every letter that is read from the left lies to the right of the one before it, and none is there that hides."""


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Home]) -> Home:
    """A server whose agent asks for a plugin that is full of such letters."""
    defined = {
        "plugin": {"kind": "new", "idPrefix": "files"},
        "name": NAME,
        "purpose": PURPOSE,
        "code": {"host": None, "client": CODE},
    }
    run = {"pluginId": "files-1", "packageId": "pkg-1", "mode": "run"}
    return make_home(
        [
            {"text": "I define.", "calls": [{"name": "cordis_define", "arguments": defined}]},
            {"text": "I run.", "calls": [{"name": "cordis_run", "arguments": run}]},
            {"text": "Done."},
        ]
    )


@pytest.fixture(scope="module")
def page(home: Home) -> Iterator[Page]:
    session, _ = home.session("\u05e9\u05dc\u05d5\u05dd 7 \u202eog")
    page = home.open(session)
    card(page)
    yield page
    page.close()


def test_attack_24_no_letter_hides_or_turns_the_card_round_in_name_purpose_or_code(page: Page) -> None:
    sheet = card(page)
    looked, wrong = sheet.evaluate(ORDER)
    assert looked > 1_000
    assert wrong == []
    name = sheet.locator(".voice .about")
    for mark in ("RLO", "PDF", "ZWSP"):
        expect(name.locator(".mk", has_text=mark)).to_have_count(1)
    expect(name.locator(".mk-l")).to_have_text("\u0435")
    said = sheet.locator(".voice blockquote")
    for mark in ("RLI", "PDI", "RLM", "RLO", "SHY", "BRAILLE"):
        expect(said.locator(".mk", has_text=mark).first).to_be_attached()
    code = sheet.locator(".code").first
    for mark in ("RLO", "ZWSP", "BOM", "LS"):
        expect(code.locator(".mk", has_text=mark).first).to_be_attached()
    expect(code.locator(".mk-l").first).to_have_text("\u0435")
    expect(sheet.locator(".voice")).to_contain_text("The agent says, not checked by placet")


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_long_words_and_ten_thousand_lines_push_no_answer_away(page: Page, size: dict[str, int]) -> None:
    page.set_viewport_size(size)  # type: ignore[arg-type]
    sheet = card(page)
    assert sheet.evaluate(
        "card => [card, card.querySelector('.ask-body')].every((one) => one.scrollWidth <= one.clientWidth)"
    )
    for name in ("Decline", "This version only", "Future versions too"):
        expect(field_of(sheet, name)).to_be_in_viewport(ratio=1)
    assert sheet.locator(".code").first.evaluate(
        "code => code.lastElementChild.querySelector('.no').textContent"
    ) == str(LINES)


def test_ten_thousand_lines_are_read_to_their_end_and_then_answered(home: Home, page: Page) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    sheet = card(page)
    expect(field_of(sheet, "This version only")).to_have_attribute("aria-disabled", "true")
    read(page)
    expect(field_of(sheet, "This version only")).not_to_have_attribute("aria-disabled", "true")
    expect(sheet.locator(".acts[data-armed]")).to_be_visible()
    field_of(sheet, "Decline").click()
    expect(sheet.locator(".seal")).to_contain_text("Declined")
    assert home.get("/api/plugins")["plugins"][0]["pending"] is None
