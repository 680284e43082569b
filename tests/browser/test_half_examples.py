"""Every example of the catalogue of browser halves runs as it stands there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import placet.cordis.client
from tests.browser.conftest import Home
from tests.browser.halves import Stage, steps, widget

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("needs_bubblewrap")]

BOOK: dict[str, Any] = json.loads(Path(placet.cordis.client.__file__).with_name("catalogue.json").read_text("utf-8"))
WHOLE = {
    f"{part}-{name}": entry["example"]
    for part in ("services", "builtins", "seats")
    for name, entry in BOOK[part].items()
    if entry.get("example")
}


@pytest.fixture(scope="module")
def stage(make_home: Callable[..., Home]) -> Stage:
    """One plugin that plays the examples."""
    return Stage.open(make_home(steps(1)))


@pytest.mark.parametrize("name", WHOLE)
def test_l15_l28_an_example_of_a_service_a_global_or_a_seat_runs(stage: Stage, name: str) -> None:
    source = WHOLE[name].replace('host.call("count")', 'host.call("double", { n: 1 })')
    attempt = stage.play(source)
    assert attempt["status"] == "running", attempt["error"]
    assert stage.plugin(1)["diagnostics"] == []
    assert stage.errors == []


def test_l15_the_examples_of_all_components_are_drawn(stage: Stage) -> None:
    drawn = ",\n".join(component["example"] for component in BOOK["components"].values())
    attempt = stage.play(widget(f'return e("Stack", null, {drawn}, e("Text", null, "all drawn"));'))
    assert attempt["status"] == "running", attempt["error"]
    box = stage.page.locator(".half-box")
    box.get_by_text("all drawn").wait_for()
    kinds = [
        "button",
        "input[type=text]",
        "select",
        "input[type=checkbox]",
        "table",
        "ul",
        "progress",
        "figure",
        "img",
        "pre",
    ]
    assert [kind for kind in kinds if box.locator(kind).count() == 0] == []
    shapes = ["path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "g"]
    assert [shape for shape in shapes if box.locator(f"svg {shape}").count() == 0] == []
    assert stage.plugin(1)["diagnostics"] == []
