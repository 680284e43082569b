"""What the inspect providers answer, from the catalogues alone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import BaseModel

from placet.cordis.inspect import Inspection, Method, Platform, Provider, Reason, Unanswered
from placet.cordis.inspect.catalogue import catalogue
from placet.cordis.inspect.directory import Asked, builtins, events, services
from placet.cordis.inspect.page import COMPONENTS, SLOTS, THEME
from placet.session.codec import lossless
from placet.session.ids import SessionId

pytestmark = pytest.mark.anyio

SESSION = SessionId("s-none")
BOTH = list(Platform)


def inspection() -> Inspection:
    sides = [kind(side) for side in BOTH for kind in (services, events, builtins)]
    return Inspection([*sides, SLOTS, THEME, COMPONENTS])


async def ask(side: str, provider: str, method: str, **given: Any) -> dict[str, Any]:
    answer = await inspection().query(side, provider, method, given, SESSION)
    assert isinstance(answer, dict), answer
    lossless(answer)
    return answer


async def refused(side: str, provider: str, method: str, **given: Any) -> Unanswered:
    answer = await inspection().query(side, provider, method, given, SESSION)
    assert isinstance(answer, Unanswered)
    return answer


def test_n2_the_list_names_the_host_side_first_and_every_method_with_both_schemas() -> None:
    manifest = inspection().manifest()
    sides = [provider["platform"] for provider in manifest]
    assert sides == sorted(sides, reverse=True) and set(sides) == {"host", "client"}
    for provider in manifest:
        assert provider["description"] and provider["methods"]
        for method in provider["methods"]:
            assert set(method) == {"name", "description", "inputSchema", "outputSchema"}
            assert "$ref" not in str(method)


def test_n3_the_providers_and_methods_have_the_names_of_the_contract() -> None:
    named = {
        f"{provider['platform']} {provider['id']}.{method['name']}"
        for provider in inspection().manifest()
        for method in provider["methods"]
    }
    kinds = ("Service.listService", "Event.listEvents", "Builtin.listBuiltins")
    sides = {f"{side} {kind}" for side in ("host", "client") for kind in kinds}
    assert named == sides | {
        "client Slots.listSubTree",
        "client Theme.listTokens",
        "client Component.listComponents",
    }


@pytest.mark.parametrize("side", BOTH)
async def test_n4_without_a_key_the_directory_is_short_and_with_one_the_contract_is_whole(side: Platform) -> None:
    short = await ask(side, "Service", "listService")
    assert short["mode"] == "catalog"
    assert all(set(entry) == {"key", "summary"} for entry in short["entries"])
    for entry in short["entries"]:
        whole = await ask(side, "Service", "listService", service=entry["key"])
        assert whole["mode"] == "service" and whole["contract"]


@pytest.mark.parametrize("side", BOTH)
def test_n4_a_contract_brings_every_type_that_it_speaks_of_and_no_other(side: Platform) -> None:
    book = catalogue(side)
    for entry in [*book.services.values(), *book.events.values(), *book.builtins.values(), *book.seats.values()]:
        given = book.types_of(entry)
        text = " ".join([entry.contract, *given.values()])
        spoken_of = {name for name in book.types if re.search(rf"\b{name}\b", text)}
        assert set(given) == spoken_of


async def test_n4_an_unknown_key_is_an_error_that_names_what_there_is() -> None:
    answer = await refused("client", "Service", "listService", service="fetch")
    assert answer.reason is Reason.INVALID_INPUT
    assert "'fetch'" in answer.message and "slots" in answer.message


@pytest.mark.parametrize("side", BOTH)
async def test_n5_what_drives_plugins_is_no_event_to_listen_to(side: Platform) -> None:
    listed = await ask(side, "Event", "listEvents")
    assert not [entry for entry in listed["entries"] if entry["key"].startswith("cordis/")]


async def test_n7_seats_are_short_without_a_root_and_whole_with_one() -> None:
    short = await ask("client", "Slots", "listSubTree")
    assert "requestedRoot" not in short and all("contract" not in seat for seat in short["slots"])
    whole = await ask("client", "Slots", "listSubTree", root="sidebar.footer.action")
    assert whole["requestedRoot"] == {"name": "sidebar.footer.action", "available": True}
    assert [seat["name"] for seat in whole["slots"]] == ["sidebar.footer.action"] and whole["slots"][0]["contract"]
    tree = await ask("client", "Slots", "listSubTree", root="sidebar")
    assert "sidebar.footer.action" in [seat["name"] for seat in tree["slots"]]
    nothing = await ask("client", "Slots", "listSubTree", root="side")
    assert nothing == {"requestedRoot": {"name": "side", "available": False}, "slots": []}


async def test_components_come_with_their_properties_and_an_example() -> None:
    listed = await ask("client", "Component", "listComponents")
    assert "Button" in [each["name"] for each in listed["components"]]
    one = await ask("client", "Component", "listComponents", component="Button")
    assert [each["name"] for each in one["components"]] == ["Button"]
    assert (await refused("client", "Component", "listComponents", component="div")).reason is Reason.INVALID_INPUT


async def test_n8_a_missing_input_is_an_empty_one_and_an_unknown_field_is_refused() -> None:
    assert await inspection().query("host", "Event", "listEvents", None, SESSION) == await ask(
        "host", "Event", "listEvents"
    )
    answer = await refused("host", "Event", "listEvents", events="turn/end")
    assert answer.reason is Reason.INVALID_INPUT and "events" in answer.message
    assert (await refused("host", "Event", "listEvents", event=1)).reason is Reason.INVALID_INPUT


async def test_n11_an_unknown_provider_or_method_is_an_error_at_once() -> None:
    missing = await refused("host", "Slots", "listSubTree")
    assert missing.reason is Reason.PROVIDER_MISSING and "Service" in missing.message
    unknown = await refused("client", "Slots", "list")
    assert unknown.reason is Reason.METHOD_MISSING and "listSubTree" in unknown.message


async def _nothing(_asked: BaseModel, _session: SessionId) -> BaseModel:
    return Asked()


def _method(name: str = "list", description: str = "Lists.") -> Method:
    return Method(name, description, Asked, Asked, _nothing)


@pytest.mark.parametrize(
    "provider",
    [
        Provider(Platform.HOST, " ", "Something.", (_method(),)),
        Provider(Platform.HOST, "Thing", "", (_method(),)),
        Provider(Platform.HOST, "Thing", "Something.", (_method(""),)),
        Provider(Platform.HOST, "Thing", "Something.", (_method(description=" "),)),
        Provider(Platform.HOST, "Thing", "Something.", (_method(), _method())),
    ],
)
def test_n1_a_provider_that_nobody_could_name_or_understand_is_refused(provider: Provider) -> None:
    with pytest.raises(ValueError, match=r"name|description|method"):
        Inspection([provider])


def test_n1_two_providers_of_one_side_need_two_names() -> None:
    twice = Provider(Platform.HOST, "Thing", "Something.", (_method(),))
    with pytest.raises(ValueError, match="two host providers"):
        Inspection([twice, twice])
    other = Provider(Platform.CLIENT, "Thing", "Something.", (_method(),))
    assert len(Inspection([twice, other]).manifest()) == 2
