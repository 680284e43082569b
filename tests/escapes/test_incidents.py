"""How approval and sandbox layers of other tools were bypassed in public: one test per case that applies here.

The numbers are those of the list of cases that placet was designed against. A case that is tested where it belongs is
named with its test (without the ids in front of its name); one that does not apply, with the reason.
"""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from placet.sandbox import Network, Settings, Workdir, WorkspaceFacts
from placet.sandbox.backends.bubblewrap import Bubblewrap
from placet.testing.backends import WORKSPACE_WRITE, Rig, rig
from tests.sandbox.test_git import git, repository

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[2]

ELSEWHERE = {
    3: ("tests/tools/test_consume.py", "a_grant_runs_the_signed_bytes_in_the_signed_mode_once"),
    6: ("tests/sandbox/test_git.py", "nothing_that_git_obeys_can_be_changed"),
    11: ("tests/sandbox/test_storage.py", "a_spill_is_new_and_follows_no_link"),
    15: ("tests/app/test_config.py", "nothing_is_read_from_the_current_folder_or_a_dotenv"),
    17: ("tests/cli/test_run.py", "without_a_responder_an_ask_ends_unavailable_and_the_exit_code_is_4"),
    18: ("tests/tools/test_checks.py", "arguments_that_fail_never_reach_a_person"),
    19: ("tests/web/test_origins.py", "another_origin_changes_nothing"),
    20: ("tests/web/test_rights.py", "the_table_of_verbs_rights_and_channels_is_this_one"),
    21: ("tests/tools/test_escalation.py", "only_a_wider_mode_asks_and_the_one_in_force_just_runs"),
    22: ("tests/web/test_asks.py", "the_digest_of_another_ask_is_refused"),
    23: ("tests/tools/test_checks.py", "an_unknown_tool_never_reaches_a_person"),
    25: ("tests/architecture/test_imports.py", "an_outside_library_stays_in_its_room"),
    26: ("tests/sandbox/test_selection.py", "a_bwrap_that_does_not_confine_is_not_used"),
    27: ("tests/cli/test_visible.py", "what_hides_or_turns_is_marked"),
    28: ("tests/tools/test_escalation.py", "nothing_is_remembered_after_a_grant"),
    30: (
        "tests/web/test_socket.py",
        "the_agent_s_processes_are_refused_for_every_verb_and_decide_nothing",
    ),
    31: ("ui/test/arming.test.ts", "takes a press that begins and ends on the armed field"),
}
DOES_NOT_APPLY = {
    12: "there is no proxy with a list of allowed hosts: the network is open or it is not there",
    29: "code of the same account can start programs of that account; the limits say so",
    32: "placet knows no classes of actions and no second person; whatever leaves the sandbox asks",
    33: "there is no channel over which others relay answers",
}
HERE = {1, 2, 4, 5, 7, 8, 9, 10, 13, 14, 16, 24}


def test_every_case_is_tested_or_has_its_reason() -> None:
    assert sorted([*HERE, *ELSEWHERE, *DOES_NOT_APPLY]) == list(range(1, 34))
    own = set(re.findall(r"def test_incidents?((?:_\d+)+)_", Path(__file__).read_text(encoding="utf-8")))
    assert {int(number) for group in own for number in group.split("_") if number} == HERE
    for path, name in ELSEWHERE.values():
        assert name in (ROOT / path).read_text(encoding="utf-8"), (path, name)


async def test_incident_1_the_settings_of_placet_are_no_file_that_a_command_can_write(confined: Rig) -> None:
    places = confined.sandbox.temp_dir(confined.session).parents[1].parent
    script = f"mkdir -p {places}/config; echo x > {places}/config/config.toml; echo x > {places}/state/server.key; true"
    await confined.run(script)
    assert not (places / "config" / "config.toml").exists()
    assert not (places / "state" / "server.key").exists()


@pytest.mark.parametrize("path", [".vscode/settings.json", ".envrc", ".git/hooks/post-checkout", ".idea/workspace.xml"])
async def test_incident_2_10_a_file_that_was_not_there_is_found_when_it_is_made(confined: Rig, path: str) -> None:
    git(confined.ws, "init", "-q", "--template=", ".")
    watch = confined.sandbox.watches.begin(confined.ws)
    assert (await confined.run(f'mkdir -p "$(dirname {path})" && echo x > {path}')).exit_code == 0
    assert [str(one.path.relative_to(confined.ws)) for one in watch.end().things] == [path]


async def test_incident_4_built_ins_set_nothing_for_the_next_command(confined: Rig) -> None:
    await confined.run("export LD_PRELOAD=/x BASH_ENV=/x PATH=/x:$PATH; typeset -x HOME=/x; alias ls=x; cd /; umask 0")
    said = (await confined.run('echo "$LD_PRELOAD|$BASH_ENV|$PWD|$PATH|$HOME"; alias')).stdout.text
    assert said.startswith(f"||{confined.ws}|")
    assert "/x" not in said


@pytest.mark.parametrize("way", ["outside", "link", ".."])
async def test_incident_5_14_a_folder_that_the_agent_chooses_is_no_root(confined: Rig, way: str) -> None:
    (confined.ws / "link").symlink_to(confined.outside)
    chosen = {"outside": confined.outside, "link": confined.ws / "link", "..": confined.ws / ".."}[way]
    done = await confined.run("echo x > new", workdir=Workdir.of(chosen))
    assert (done.exit_code, done.sandbox.denied) == (1, True)
    assert not (confined.outside / "new").exists()


@pytest.mark.parametrize(
    "script",
    [
        "echo x > OUT/new",
        "echo y | sed -n 'w OUT/new'",
        "find . -maxdepth 0 -exec touch OUT/new ';'",
        "awk 'BEGIN { print 1 > \"OUT/new\" }'",
        "x='$(touch OUT/new)'; echo \"${x@P}\"",
        "printf -v 'a[$(touch OUT/new)]' x",
        "git -c core.pager='touch OUT/new' --paginate version; GIT_SSH_COMMAND='touch OUT/new' git ls-remote ssh://x/x",
        "sort -o OUT/new /dev/null; tee OUT/new </dev/null",
    ],
)
async def test_incident_7_24_no_command_is_held_to_be_harmless(confined: Rig, script: str) -> None:
    await confined.run(script.replace("OUT", str(confined.outside)))
    assert list(confined.outside.iterdir()) == []


async def test_incident_8_the_last_of_many_parts_is_confined_as_the_first(confined: Rig) -> None:
    script = "; ".join(["true"] * 200 + [f"touch {confined.outside}/new"])
    done = await confined.run(script)
    assert (done.sandbox.denied, list(confined.outside.iterdir())) == (True, [])


async def test_incident_9_16_nothing_that_a_repository_names_runs_outside(confined: Rig) -> None:
    repository(confined.ws)
    mark = confined.outside / "ran"
    for name in (
        "core.fsmonitor",
        "core.hooksPath",
        "filter.x.clean",
        "diff.external",
        "core.sshCommand",
        "alias.status",
    ):
        git(confined.ws, "config", name, f"!touch {mark}" if name.startswith("alias") else f"touch {mark}; true")
    (confined.ws / ".gitattributes").write_text("* filter=x\n")
    facts = await confined.sandbox.check_workspace(confined.ws)
    assert isinstance(facts, WorkspaceFacts)
    watch = confined.sandbox.watches.begin(confined.ws)
    await confined.run("echo x > file; git status; git add -A; git diff")
    watch.end()
    assert not mark.exists()


async def test_incident_13_no_network_means_none(needs_bubblewrap: str) -> None:
    settings = Settings(network=Network.NONE)
    with (
        rig(lambda state: [Bubblewrap(state, needs_bubblewrap)], settings) as made,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        server.settimeout(0.5)
        port = server.getsockname()[1]
        done = await made.run(f"exec 3<>/dev/tcp/127.0.0.1/{port}", WORKSPACE_WRITE)
        assert done.exit_code != 0
        with pytest.raises(TimeoutError):
            server.accept()
