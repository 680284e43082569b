"""The parts put together: who is asked, what screens are told, and what a start leaves alone."""

from pathlib import Path
from typing import Any

import pytest

from placet.app.composition import open_placet
from placet.app.config import load
from placet.app.errors import Refused
from placet.app.serving import notices, services_of
from placet.app.storage import dropped_from
from placet.session.ids import SessionId

pytestmark = pytest.mark.anyio


def environ(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"PLACET_HOME": str(tmp_path), "HOME": str(tmp_path / "account"), **more}


async def test_a_server_waits_for_people_and_a_run_has_nobody_to_ask(tmp_path: Path) -> None:
    async with open_placet(load(environ(tmp_path)), kind="web") as placet:
        assert [responder.name for responder in placet.responders.chain()] == ["inbox"]
    async with open_placet(load(environ(tmp_path)), kind="run") as placet:
        assert placet.responders.chain() == ()


async def test_an_unknown_model_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        async with open_placet(load(environ(tmp_path), {"model.name": "nonsense"}), kind="web"):
            pass
    assert caught.value.code == 2
    assert not (tmp_path / "state" / "placet.db").exists()


async def test_without_a_key_the_rehearsal_answers_and_screens_say_so(tmp_path: Path) -> None:
    async with open_placet(load(environ(tmp_path)), kind="web") as placet:
        facts = (await services_of(placet)).installation
        assert facts.rehearsal
        assert any(code == "rehearsal" for _, code, _ in facts.notices)
        assert facts.account


async def test_a_key_in_the_environment_chooses_its_vendor(tmp_path: Path) -> None:
    async with open_placet(load(environ(tmp_path, DEEPSEEK_API_KEY="sk-x")), kind="web") as placet:
        facts = (await services_of(placet)).installation
        assert facts.model.startswith("deepseek:")
        assert not facts.rehearsal
        assert "sk-x" not in repr(facts) + repr(placet.config)


def test_screens_are_told_where_nothing_confines_or_not_everything() -> None:
    none: dict[str, Any] = {"chosen": None, "backends": []}
    assert [code for _, code, _ in notices(none, model="openai:m", real=True)] == ["no-sandbox"]
    partial: dict[str, Any] = {
        "chosen": "x",
        "backends": [{"name": "x", "enforcement": "partial", "not_governed": ["This is not held."]}],
    }
    [(level, code, text)] = notices(partial, model="openai:m", real=True)
    assert (level, code, text) == ("warn", "partial-sandbox", "The sandbox here (x) does not hold everything.")
    [(*_, text)] = notices(partial, model="openai:m", real=True, mends="install bubblewrap")
    assert text.endswith("To mend that: install bubblewrap, then start placet again.")


def test_what_was_dropped_from_the_end_of_the_store_is_told_on_every_screen() -> None:
    whole = {"chosen": "a", "backends": [{"name": "a", "enforcement": "full", "not_governed": []}]}
    [(level, code, text)] = notices(whole, model="openai:m", real=True, dropped="a write that never ended was dropped")
    assert (level, code) == ("warn", "dropped-tail")
    assert text.startswith("When placet started, a write that never ended was dropped.")


async def test_a_store_that_was_whole_says_nothing_of_its_end(tmp_path: Path) -> None:
    async with open_placet(load(environ(tmp_path)), kind="web") as placet:
        assert dropped_from(placet.store) is None
        assert "dropped-tail" not in [code for _, code, _ in (await services_of(placet)).installation.notices]
        suggested = (await services_of(placet)).installation.suggested_cwd
        assert suggested.exists() or suggested.name == "placet-work"  # looked at, never made


async def test_leaving_settles_nothing_and_unregisters(tmp_path: Path) -> None:
    async with open_placet(load(environ(tmp_path)), kind="web") as placet:
        assert len(list(placet.config.places.processes.iterdir())) == 1
    assert list((tmp_path / "state" / "processes").iterdir()) == []


@pytest.mark.parametrize("backend", ["none", "auto"])
async def test_c22_a_wider_mode_is_offered_exactly_where_the_sandbox_confines(tmp_path: Path, backend: str) -> None:
    (tmp_path / "config.toml").write_text(f'[sandbox]\nbackend = "{backend}"\n')
    async with open_placet(load(environ(tmp_path)), kind="web") as placet:
        confines = placet.sandbox.selection.choose() is not None
        assert backend == "auto" or not confines
        for name in ("bash", "read_file", "write_file", "edit_file", "list_files", "search_files"):
            tool = placet.tools.get(name, SessionId("s-1"))
            assert tool is not None
            assert ("sandbox_permissions" in tool.parameters["properties"]) == confines, name
