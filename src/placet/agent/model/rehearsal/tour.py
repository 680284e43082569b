"""The tour of plugins: one that gives the agent a tool, one with a view in the page, its next version, and a repair.

Like all rules of the rehearsal it keeps nothing: which step comes next is read from the call that has just returned,
or from the message that tells what became of a run.
"""

from __future__ import annotations

import json
from typing import Any

from placet.agent.model.port import AssistantTurn, Message, ModelCall, ToolReturn
from placet.agent.model.rehearsal.answer import Answer, arguments_of, in_short
from placet.agent.model.rehearsal.outcomes import Outcome, outcome_of
from placet.agent.model.rehearsal.plugins import FILES, FILES_AGAIN, SLIP, TALLY

SEAT = {"root": "sidebar.footer.action"}
TOOL = ".count"


def begin(answer: Answer, text: str) -> bool:
    """Begin the tour where the person asks for it; False: they ask for something else."""
    match text.lower().replace(",", " ").split():
        case ["plugin", "update"]:
            answer.say("I look which plugins there are, before I write a next version.")
            answer.call("cordis_inspect_self")
        case ["plugin", "broken"]:
            answer.say("I write a plugin with a mistake in it, so that you see what becomes of one.")
            answer.call("cordis_define", **SLIP.definition())
        case ["plugin", *_]:
            answer.say(
                "I write a plugin for myself first. Its code runs beside placet, in the sandbox, and gives me a tool"
                " that counts files. Nothing of it enters your page, so nobody has to agree."
            )
            answer.call("cordis_define", **TALLY.definition())
        case _:
            return False
    return True


def after_result(answer: Answer, call: ModelCall, result: ToolReturn) -> bool:
    """Go on after a call of the tour; False: the call was none of it."""
    if not call.name.startswith("cordis_") and not (call.name.startswith(TALLY.prefix) and call.name.endswith(TOOL)):
        return False
    value, given = _value(result.text), arguments_of(call)
    if result.is_error:
        answer.say(f"That did not go through: {result.text.removeprefix('Error: ').strip()}")
        return True
    match call.name:
        case "cordis_define":
            _after_define(answer, given, value)
        case "cordis_run":
            _after_run(answer, value)
        case "cordis_inspect_query":
            answer.say("A row at the foot of the sidebar is the right place for it.")
            answer.call("cordis_define", **FILES.definition())
        case "cordis_inspect_self":
            _after_look(answer, value)
        case _:
            answer.say(
                f"My new tool says: {in_short(result.text)}\n\nNow a plugin with a view for you: how many files the"
                " folder holds. I look up where in the page it could stand."
            )
            answer.call("cordis_inspect_query", platform="client", provider="Slots", method="listSubTree", input=SEAT)
    return True


def _after_define(answer: Answer, given: dict[str, Any], value: dict[str, Any]) -> None:
    name = f"`{value['pluginId']}/{value['packageId']}`"
    if given["plugin"]["kind"] == "existing":
        answer.say(f"{name} is defined. I look how the plugin stands, before I start this version.")
        answer.call("cordis_inspect_self", pluginId=value["pluginId"])
    else:
        answer.say(f"{name} is defined: nothing of it runs yet. I start it.")
        answer.call("cordis_run", pluginId=value["pluginId"], packageId=value["packageId"], mode="run")


def _after_run(answer: Answer, value: dict[str, Any]) -> None:
    name = f"`{value['pluginId']}/{value['packageId']}`"
    match value["status"]:
        case "awaiting-approval":
            answer.say(
                f"{name} has code for your page, so it waits for you. Its card shows all of that code: agree to this"
                " version only, agree to future versions too, or decline. I end my turn, and am told what you decide."
            )
        case "starting":
            answer.say(f"You have agreed to {name} before, so it starts without a card. I am told how that goes.")
        case _ if value["pluginId"].startswith(TALLY.prefix):
            answer.say(f"{name} runs, and I have a new tool. I try it.")
            answer.call(f"{value['pluginId']}{TOOL}")
        case _:
            answer.say(f"{name} runs.")


def _after_look(answer: Answer, value: dict[str, Any]) -> None:
    if value["mode"] == "plugins":
        mine = [plugin for plugin in value["plugins"] if plugin["name"] == FILES.name]
        if mine:
            answer.say(f"I write the next version of `{mine[-1]['pluginId']}`, which counts by itself.")
            answer.call("cordis_define", **FILES_AGAIN.definition(mine[-1]["pluginId"]))
        else:
            answer.say("There is no plugin of mine to update in this session. Write `plugin` first.")
        return
    newest, current = value["packages"][-1]["packageId"], value.get("currentPackageId")
    mode = "run" if current in (None, newest) else "update"
    says = f"`{current}` is the current version, so this is an update" if mode == "update" else "No version is current"
    answer.say(f"{says}. I start `{newest}`.")
    answer.call("cordis_run", pluginId=value["pluginId"], packageId=newest, mode=mode)


def after_outcome(answer: Answer, text: str, messages: tuple[Message, ...]) -> None:
    """React to a message that tells what became of a run; other messages call for nothing."""
    outcome = outcome_of(text)
    if outcome is None:
        return
    name = f"`{outcome.plugin}/{outcome.package}`"
    match outcome.status:
        case "running":
            answer.say(f"{name} runs: look at the foot of the sidebar. For its next version write `plugin update`.")
        case "rejected":
            answer.say(f"You declined {name}. I leave it at that, and do not ask again unless you want it.")
        case "failed" if _slipped(outcome, messages):
            answer.say(
                f"{name} failed. That was my mistake: the service is called `files`, not"
                " `file`. I repair the same plugin with a new version."
            )
            answer.call("cordis_define", **FILES.definition(outcome.plugin))
        case _:
            answer.say(f"{name} failed, and I know no repair for it. This is what I was told:\n\n{outcome.text}")


def _slipped(outcome: Outcome, messages: tuple[Message, ...]) -> bool:
    """Whether the package was the one with the mistake in it; for any other the rehearsal knows no repair."""
    calls = {call.id: call for message in messages if isinstance(message, AssistantTurn) for call in message.calls}
    for message in messages:
        if isinstance(message, ToolReturn) and message.name == "cordis_define":
            given = arguments_of(calls[message.call_id])
            if _value(message.text).get("packageId") == outcome.package:
                return bool(given["code"]["host"] == SLIP.host)
    return False


def _value(text: str) -> dict[str, Any]:
    """The value of a result: the JSON in its last line."""
    try:
        value = json.loads(text.rpartition("\n")[2])
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
