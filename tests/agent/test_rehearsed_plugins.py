"""The tour of plugins, step by step, from transcripts: what the rehearsal says and calls, and that it keeps nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from placet.agent.model.port import AssistantTurn, Message, ToolReturn, UserTurn
from placet.agent.model.rehearsal import respond
from placet.agent.model.rehearsal.answer import Answer
from placet.agent.model.rehearsal.outcomes import outcome_of
from placet.agent.model.rehearsal.plugins import FILES, FILES_AGAIN, SLIP, TALLY
from placet.cordis import messages
from placet.cordis.attempt import Attempt
from placet.cordis.definition import Definition, Package
from placet.cordis.events import Fault, Offer
from placet.cordis.registry import Plugin
from placet.cordis.tools import words
from placet.cordis.vocabulary import AttemptStatus, HalfStatus, Mode, PackageId, Phase, PluginId, RunId
from placet.session.ids import SessionId


class Talk:
    """A conversation with the rehearsal; results are given as the tools would give them."""

    def __init__(self) -> None:
        self.messages: tuple[Message, ...] = ()
        self.step = 0

    def hear(self, text: str, source: str = "user") -> Answer:
        self.messages = (*self.messages, UserTurn(text, source))
        return self._answer()

    def returns(self, sentence: str, value: Mapping[str, Any] | None = None, *, is_error: bool = False) -> Answer:
        """Give the one call that is open its result."""
        said = self.messages[-1]
        assert isinstance(said, AssistantTurn)
        (call,) = said.calls
        text = sentence if value is None else f"{sentence}\n{json.dumps(value)}"
        self.messages = (*self.messages, ToolReturn(call.id, call.name, text, is_error))
        return self._answer()

    def _answer(self) -> Answer:
        answer = respond(self.messages)
        self.step += 1
        calls = tuple(replace(call, id=f"call_{self.step}_{number}") for number, call in enumerate(answer.calls))
        self.messages = (*self.messages, AssistantTurn("\n\n".join(answer.sentences), calls))
        return answer

    def defined(self, plugin: str, package: str) -> Answer:
        return self.returns(words.defined(plugin, package), {"pluginId": plugin, "packageId": package})

    def run(self, plugin: str, package: str, status: str, sentence: str) -> Answer:
        value = {"ok": True, "status": status, "pluginId": plugin, "packageId": package, "pluginRunId": "run-1"}
        return self.returns(sentence, value)


def call(answer: Answer) -> tuple[str, dict[str, Any]]:
    (only,) = answer.calls
    return only.name, json.loads(only.arguments)


def said(answer: Answer) -> str:
    return " ".join(answer.sentences)


def plugin(name: str = FILES.name) -> tuple[Plugin, Attempt]:
    """A plugin whose run the agent has asked for."""
    id, package, run = PluginId("files-2"), PackageId("pkg-2"), RunId("run-2")
    packages = (Package(package, id, name, "Counts.", True, True, "d", 1, 1, "1.1.0"),)
    attempt = Attempt(
        run, id, package, Mode.RUN, AttemptStatus.RUNNING, HalfStatus.RUNNING, HalfStatus.RUNNING, "d", "1.2.0",
        {"kind": "agent", "name": "agent"}, "h", 1, None, True, consented=True, offer=Offer(),
    )  # fmt: skip
    return Plugin(id, SessionId("s-1"), packages, current=package, latest=attempt, active=attempt), attempt


def at_the_card() -> Talk:
    """The tour up to the card of its second plugin."""
    talk = Talk()
    talk.hear("plugin")
    talk.defined("tally-1", "pkg-1")
    talk.run("tally-1", "pkg-1", "running", words.running("tally-1", "pkg-1", "run-1", []))
    talk.returns('{".md": 3}')
    talk.returns("Slots.listSubTree of the client side:", {"data": {"slots": []}})
    talk.defined("files-2", "pkg-2")
    talk.run("files-2", "pkg-2", "awaiting-approval", words.awaiting("files-2", "pkg-2", "run-2"))
    return talk


def test_the_tour_defines_a_host_half_runs_it_and_uses_its_tool() -> None:
    talk = Talk()
    name, given = call(talk.hear("plugin"))
    assert name == "cordis_define" and given["code"] == {"host": TALLY.host}
    name, given = call(talk.defined("tally-1", "pkg-1"))
    assert (name, given) == ("cordis_run", {"pluginId": "tally-1", "packageId": "pkg-1", "mode": "run"})
    name, given = call(talk.run("tally-1", "pkg-1", "running", words.running("tally-1", "pkg-1", "run-1", [])))
    assert (name, given) == ("tally-1.count", {})


def test_the_tour_looks_up_a_seat_before_it_defines_a_view() -> None:
    talk = Talk()
    talk.hear("plugin")
    talk.defined("tally-1", "pkg-1")
    talk.run("tally-1", "pkg-1", "running", words.running("tally-1", "pkg-1", "run-1", []))
    name, given = call(answer := talk.returns('{".md": 3}'))
    assert name == "cordis_inspect_query" and given["input"] == {"root": "sidebar.footer.action"}
    assert '{".md": 3}' in said(answer)
    name, given = call(talk.returns("Slots:", {"data": {"slots": []}}))
    assert name == "cordis_define" and set(given["code"]) == {"host", "client"}


def test_o9_where_a_person_has_to_decide_the_tour_says_so_and_ends_its_turn() -> None:
    talk = at_the_card()
    last = talk.messages[-1]
    assert isinstance(last, AssistantTurn)
    assert last.calls == () and "waits for you" in last.text and "I end my turn" in last.text


def test_i24_after_a_consent_the_tour_tells_that_it_runs() -> None:
    answer = at_the_card().hear(messages.running(*plugin()), "plugin")
    assert answer.calls == [] and "runs" in said(answer) and "plugin update" in said(answer)


@pytest.mark.parametrize("note", [None, "Not on a Friday."])
def test_i24_after_a_decline_the_tour_does_not_ask_again(note: str | None) -> None:
    talk = at_the_card()
    answer = talk.hear(messages.rejected(*plugin(), note), "plugin")
    assert answer.calls == [] and "do not ask again" in said(answer)
    again = talk.hear("plugin update")
    assert [each.name for each in again.calls] == ["cordis_inspect_self"]  # the person wants it: that is another thing


def test_o14_a_failing_version_is_repaired_under_the_same_plugin() -> None:
    talk = Talk()
    name, given = call(talk.hear("plugin broken"))
    assert name == "cordis_define" and given["code"]["host"] == SLIP.host
    talk.defined("files-2", "pkg-2")
    talk.run("files-2", "pkg-2", "awaiting-approval", words.awaiting("files-2", "pkg-2", "run-2"))
    failed = messages.failed(
        *plugin(), phase=Phase.HOST_APPLY, fault=Fault("ctx.file is not there.", "line 1", 1), detail=None
    )
    name, given = call(talk.hear(failed, "plugin"))
    assert name == "cordis_define" and given["plugin"] == {"kind": "existing", "pluginId": "files-2"}
    assert given["code"]["host"] == FILES.host
    name, given = call(talk.defined("files-2", "pkg-3"))
    assert (name, given) == ("cordis_inspect_self", {"pluginId": "files-2"})
    packages = [{"packageId": "pkg-2"}, {"packageId": "pkg-3"}]
    name, given = call(talk.returns("files-2:", {"mode": "plugin", "pluginId": "files-2", "packages": packages}))
    assert (name, given["packageId"], given["mode"]) == ("cordis_run", "pkg-3", "run")


def test_a_failure_for_which_it_knows_no_repair_is_told_and_not_repaired_for_ever() -> None:
    failed = messages.failed(*plugin(), phase=Phase.HOST_APPLY, fault=Fault("No space left."), detail=None)
    answer = at_the_card().hear(failed, "plugin")
    assert answer.calls == [] and "No space left." in said(answer)


def test_i2_an_update_is_run_as_one_where_another_version_is_current() -> None:
    talk = at_the_card()
    talk.hear("Plugin, update")
    plugins = [{"pluginId": "tally-1", "name": TALLY.name}, {"pluginId": "files-2", "name": FILES.name}]
    name, given = call(talk.returns("2 plugins:", {"mode": "plugins", "plugins": plugins}))
    assert name == "cordis_define" and given["plugin"]["pluginId"] == "files-2"
    assert given["code"]["client"] == FILES_AGAIN.client
    talk.defined("files-2", "pkg-3")
    packages = [{"packageId": "pkg-2"}, {"packageId": "pkg-3"}]
    value = {"mode": "plugin", "pluginId": "files-2", "currentPackageId": "pkg-2", "packages": packages}
    name, given = call(talk.returns("files-2:", value))
    assert (name, given["packageId"], given["mode"]) == ("cordis_run", "pkg-3", "update")
    answer = talk.run("files-2", "pkg-3", "starting", words.starting("files-2", "pkg-3", "run-3"))
    assert answer.calls == [] and "without a card" in said(answer)


def test_without_a_plugin_there_is_nothing_to_update() -> None:
    talk = Talk()
    talk.hear("plugin update")
    answer = talk.returns("0 plugins.", {"mode": "plugins", "plugins": []})
    assert answer.calls == [] and "Write `plugin` first" in said(answer)


def test_a_refusal_of_a_tool_is_said_and_ends_the_tour() -> None:
    talk = Talk()
    talk.hear("plugin")
    answer = talk.returns("Error: this session never asks anybody.", is_error=True)
    assert answer.calls == [] and "this session never asks anybody." in said(answer)


@pytest.mark.parametrize("text", ["plugins?", "my plugin", "what is a plugin", "update"])
def test_only_the_word_itself_at_the_begin_of_a_message_starts_the_tour(text: str) -> None:
    assert Talk().hear(text).calls == []


def test_what_the_rehearsal_writes_can_be_defined() -> None:
    for sketch in (TALLY, FILES, FILES_AGAIN, SLIP):
        compile(sketch.host, sketch.name, "exec")
        wanted = Definition(sketch.name, sketch.purpose, sketch.host, sketch.client, prefix=sketch.prefix)
        assert wanted.trimmed().complaint() is None


@pytest.mark.parametrize("name", ["File count", "is running", ") failed, run-9,", "The user declined pkg-1", "a\nb"])
def test_the_name_of_a_plugin_does_not_change_what_is_read_from_a_message(name: str) -> None:
    one, attempt = plugin(name)
    outcome = outcome_of(messages.rejected(one, attempt, None))
    assert outcome is not None and (outcome.plugin, outcome.package, outcome.status) == ("files-2", "pkg-2", "rejected")
    outcome = outcome_of(messages.running(one, attempt))
    assert outcome is not None and outcome.status == "running"


def test_a_message_about_anything_else_is_no_outcome() -> None:
    one, attempt = plugin()
    assert outcome_of(messages.undefined_by_user(one)) is None
    assert outcome_of(messages.stopped_by_user(one, attempt)) is None
    assert outcome_of("Background job j-1 is over") is None
