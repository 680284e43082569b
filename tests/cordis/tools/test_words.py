"""What the agent is told about plugins before it writes one, and the shapes of the seven tools."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from placet.cordis.tools import arguments, words
from placet.cordis.tools.section import SECTION
from placet.tools.schema import schema

PLAIN = " ".join(SECTION.split())


@pytest.mark.parametrize(
    "words",
    [
        "temporary",
        "no security boundary",
        "not the usual way",
        "Decide first whether it is something new, or a change or repair",
        '"awaiting-approval" means that the user decides in the page: tell them so and end your turn',
        "Do not wait, do not call again, do not say that it runs",
        '"starting" is no success',
        "do not ask for the same activation again unless the user wants it",
        "After a technical failure repair the same plugin",
    ],
)
def test_o9_the_section_says_what_plugins_are_and_how_to_wait_for_a_person(words: str) -> None:
    assert words in PLAIN


@pytest.mark.parametrize(
    "words",
    [
        "cordis_inspect_list, cordis_inspect_query for what the halves can use, cordis_define, cordis_run",
        "one immutable version",
        "`currentPackageId` is the version that was last started with success",
        "for this version only or for future versions of the plugin too",
        "An update ends the old version just before the new one starts, and nothing is restored by itself",
        'ask for with `ctx.get("NAME")`',
        "no JSX, no TypeScript, no imports",
        "Never log, send or return live objects",
        "one that can be undone",
        "in plain JSON; the host half cannot call the client half",
    ],
)
def test_o10_the_section_says_in_which_order_and_by_which_rules_code_is_written(words: str) -> None:
    assert words in PLAIN


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (words.DEFINE, ("Nothing runs", "nobody is asked", "`cordis_run`", "leaves no trace")),
        (words.RUN, ("returns at once", "as a message", "end your turn", '"update" where another package is current')),
        (words.STOP, ("Packages, consents and version pointers stay", "cordis_undefine")),
        (words.UNDEFINE, ("cannot be undone", "cordis_stop", "consents")),
        (words.INSPECT_LIST, ("changes nothing", "cordis_inspect_query")),
        (words.INSPECT_QUERY, ("cordis_inspect_list", "changes nothing")),
        (words.INSPECT_SELF, ("source of that package", "changes nothing")),
    ],
)
def test_o11_each_description_tells_the_effect_when_it_is_known_and_what_comes_next(
    text: str, says: tuple[str, ...]
) -> None:
    plain = " ".join(text.split())
    assert [part for part in says if part not in plain] == []


def test_o12_the_first_line_of_a_result_says_how_far_things_have_come() -> None:
    assert "does not run yet" in words.defined("tally-1", "pkg-1")
    assert "awaits the user's approval" in words.awaiting("tally-1", "pkg-1", "run-1")
    assert "starting asynchronously" in words.starting("tally-1", "pkg-1", "run-1")
    assert "is running" in words.running("tally-1", "pkg-1", "run-1", [])
    assert "waits for files" in words.running("tally-1", "pkg-1", "run-1", ["files"])
    assert "are kept" in words.stopped("tally-1", was_running=True)
    assert "all its packages" in words.removed("tally-1")


NAMES = {
    arguments.Define: {"plugin", "name", "purpose", "code"},
    arguments.Run: {"pluginId", "packageId", "mode"},
    arguments.Named: {"pluginId"},
    arguments.Nothing: set(),
    arguments.Query: {"platform", "provider", "method", "input"},
    arguments.Self: {"pluginId", "packageId"},
}


@pytest.mark.parametrize("model", NAMES, ids=lambda model: model.__name__)
def test_the_parameters_have_the_names_of_the_contract_and_no_others(model: Any) -> None:
    made = schema(model)
    assert set(made["properties"]) == NAMES[model] and made["additionalProperties"] is False
    assert "$" not in str(made)


def test_the_schema_of_define_shows_both_kinds_of_plugin_and_both_halves() -> None:
    fields = schema(arguments.Define)["properties"]
    kinds = {kind["properties"]["kind"]["const"]: set(kind["required"]) for kind in fields["plugin"]["oneOf"]}
    assert kinds == {"new": {"kind", "idPrefix"}, "existing": {"kind", "pluginId"}}
    assert set(fields["code"]["properties"]) == {"host", "client"}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"plugin": {"kind": "new"}},
        {"plugin": {"kind": "new", "idPrefix": "tally", "pluginId": "tally-1"}},
        {"plugin": {"kind": "other", "idPrefix": "tally"}},
        {"plugin": {"kind": "existing", "pluginId": 1}},
        {"code": {"host": 1}},
        {"code": {"server": "x"}},
        {"name": "x" * 3_000},
    ],
)
def test_arguments_of_another_shape_are_refused(given: dict[str, Any]) -> None:
    right = {"plugin": {"kind": "new", "idPrefix": "tally"}, "name": "Tally", "purpose": "Counts.", "code": {}}
    arguments.Define.model_validate(right)
    with pytest.raises(ValidationError):
        arguments.Define.model_validate({**right, **given} if given else {})
