"""Rooms for words: heads and composer keep one line each, menus can be read, nothing is said twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ONE_ASK, PHONE, WIDE, Home

pytestmark = pytest.mark.browser

LONG = "Rotate the nightly exports of all months, then tell me what is left over in the work folder"


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Home]) -> Home:
    """A server with a card open in a session with a long name."""
    return make_home(ONE_ASK)


def lines(page: Page, selector: str) -> float:
    """How many lines of text a part of the page takes."""
    return float(
        page.locator(selector).evaluate("one => one.clientHeight / parseFloat(getComputedStyle(one).lineHeight)")
    )


@pytest.mark.parametrize("size", [WIDE, PHONE, {"width": 1024, "height": 768}], ids=["wide", "phone", "tablet"])
def test_the_head_keeps_one_line_and_says_the_whole_name_to_who_looks(home: Home, size: dict[str, int]) -> None:
    session, folder = home.session(LONG)
    page = home.open(session, size=size)
    title = page.locator(".head h1")
    expect(title).to_contain_text("Rotate the nightly exports")
    assert round(lines(page, ".head h1")) == 1
    expect(title).to_have_attribute("title", _named(folder.as_posix()))
    assert page.evaluate("document.querySelector('.app').scrollWidth <= innerWidth")
    page.close()


def _named(folder: str) -> str:
    name = "Rotate the nightly exports of all months, then tell me…"
    return f"{name}\nNamed after its first message. You can give it a title.\n{folder}"


def test_the_composer_keeps_its_controls_on_one_row_also_while_the_agent_is_busy(home: Home) -> None:
    page = home.open(home.session(LONG)[0])
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    page.get_by_label("Message", exact=True).fill("something for later")
    expect(page.get_by_role("button", name="After this turn")).to_be_visible()
    places = page.locator(".bar button:visible").evaluate_all("all => all.map((one) => one.offsetTop)")
    assert len(places) >= 3 and max(places) - min(places) < 8
    page.close()


def test_the_menu_of_a_session_can_be_read_and_pressed(home: Home) -> None:
    page = home.open(home.session(LONG)[0])
    page.get_by_role("button", name="This session").click()
    menu = page.get_by_role("menu")
    expect(page.get_by_role("menuitem", name="Rename")).to_be_visible()
    frame, inner = page.locator(".pop").bounding_box(), menu.bounding_box()
    assert frame is not None and inner is not None and frame["height"] >= inner["height"]
    page.get_by_role("menuitem", name="Archive").click()
    page.close()


def test_that_the_model_is_not_real_is_said_once_in_its_picker(make_home: Callable[..., Home]) -> None:
    home = make_home()
    page = home.open(home.session("hello")[0])
    expect(page.get_by_text("The turn is complete")).to_be_visible()
    page.get_by_role("button", name="Model").click()
    expect(page.get_by_role("menu")).to_be_visible()
    assert page.get_by_role("menu").inner_text().count("not a real model") == 1
    page.close()
