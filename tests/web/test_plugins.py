"""Plugins over the API: the panel's rows, what people do to them, and what pages say of halves and are given."""

from __future__ import annotations

from typing import Any

import pytest

from placet.approval.outcome import Policy
from placet.session.event import Draft
from placet.testing.page_key import LinkedPage
from tests.web.rig import House
from tests.web.test_consents import CLIENT, Waiting, waiting

pytestmark = pytest.mark.anyio

OK = {"ok": True}


async def row(page: LinkedPage, plugin: str) -> dict[str, Any]:
    plugins = (await page.get("/api/plugins")).json()["plugins"]
    return next(dict(one) for one in plugins if one["plugin"] == plugin)


async def loading(house: House, page: LinkedPage, **how: Any) -> Waiting:
    """A plugin that was consented to and waits for a page to load its client half."""
    one = await waiting(house, **how)
    assert (await one.say(page)).status_code == 200
    await one.reached("client-pending")
    return one


async def loaded(house: House, page: LinkedPage, **how: Any) -> Waiting:
    """A plugin whose client half has loaded."""
    one = await loading(house, page, **how)
    assert (await verdict(page, one)) is True
    return one


async def verdict(page: LinkedPage, one: Waiting, **said: Any) -> bool:
    answer = await page.post(f"/api/plugins/{one.plugin}/verdict", {"run": one.run} | (said or OK))
    assert answer.status_code == 200, answer.text
    return bool(answer.json()["accepted"])


async def test_h13_rows_tell_everything_but_code(house: House) -> None:
    async with house.page() as page:
        one = await loaded(house, page)
        answer = await page.get("/api/plugins")
        plugin = await row(page, one.plugin)
        text = (await page.get(f"/api/plugins/{one.plugin}/packages/{one.package}")).json()
    assert CLIENT not in answer.text and answer.json()["notices"] == []
    assert (plugin["session"], plugin["sessionName"]["text"]) == (one.session, "A session")
    assert (plugin["state"], plugin["current"], plugin["next"]) == ("running", one.package, None)
    assert [package["consented"] for package in plugin["packages"]] == [True]
    assert plugin["activeRun"]["run"] == one.run and plugin["activeRun"]["clientHalf"] is True
    assert plugin["activeRun"]["host"]["status"] == "absent" and plugin["activeRun"]["client"]["status"] == "running"
    assert [(c["package"], c["width"], c["channel"]) for c in plugin["consents"]] == [(one.package, "package", "page")]
    assert (text["client"], text["host"], text["digest"]) == (CLIENT, None, plugin["packages"][0]["digest"])


async def test_m7_the_rows_of_all_sessions_are_there(house: House) -> None:
    one, two = await waiting(house, "dice-1"), await waiting(house, "coin-2")
    async with house.page() as page:
        plugins = (await page.get("/api/plugins")).json()["plugins"]
    assert {(p["plugin"], p["session"]) for p in plugins} == {(one.plugin, one.session), (two.plugin, two.session)}
    assert [p["pending"]["run"] for p in plugins] == [one.run, two.run]


async def test_l2_i16_source_is_handed_out_for_exactly_the_active_run(house: House) -> None:
    async with house.page() as page:
        one = await waiting(house, client="return () => 'a\u2028b'")
        path = f"/api/plugins/{one.plugin}/runs/{one.run}/source"
        before = await page.get(path)
        await one.say(page)
        await one.reached("client-pending")
        during = await page.get(path)
        foreign = await page.get(f"/api/plugins/coin-9/runs/{one.run}/source")
        other = await page.get(f"/api/plugins/{one.plugin}/runs/run-999/source")
        await page.post(f"/api/plugins/{one.plugin}/stop", {"key": "k"})
        after = await page.get(path)
    assert (before.status_code, before.json()["error"]["code"]) == (409, "not-active")
    assert during.json() == {"run": one.run, "package": one.package, "source": "return () => 'a\u2028b'"}
    assert during.headers["cache-control"] == "no-store" and "etag" not in during.headers
    assert (foreign.status_code, other.status_code, after.status_code) == (404, 409, 409)


async def test_i17_i18_the_first_verdict_on_the_active_run_counts_and_no_other(house: House) -> None:
    async with house.page() as left, house.page() as right:
        one = await loading(house, left)
        assert await verdict(left, one, run="run-999", ok=True) is False
        assert await verdict(left, one) is True
        assert await verdict(right, one) is False
        assert await verdict(right, one, ok=False, phase="client-load", message="no") is False
        assert (await row(left, one.plugin))["state"] == "running"
        crossed = await left.post("/api/plugins/coin-9/verdict", {"run": one.run, "ok": True})
        empty = await left.post(f"/api/plugins/{one.plugin}/verdict", {"run": one.run, "ok": False})
    assert crossed.json() == {"accepted": False} and empty.json()["error"]["code"] == "bad-verdict"


async def test_i22_a_client_half_that_does_not_load_is_failed_with_its_phase(house: House) -> None:
    async with house.page() as page:
        one = await loading(house, page)
        said = {"ok": False, "phase": "client-apply", "message": "x is not defined", "stack": "at line 3"}
        assert await verdict(page, one, **said) is True
        latest = (await row(page, one.plugin))["latest"]
        source = await page.get(f"/api/plugins/{one.plugin}/runs/{one.run}/source")
    assert (latest["status"], latest["phase"], latest["error"]["message"]) == (
        "failed",
        "client-apply",
        said["message"],
    )
    assert source.status_code == 409


async def test_i20_a_half_that_waits_for_a_service_counts_as_success(house: House) -> None:
    async with house.page() as page:
        one = await loading(house, page)
        assert await verdict(page, one, ok=True, waitingFor=["weather"]) is True
        plugin = await row(page, one.plugin)
    assert (plugin["state"], plugin["activeRun"]["client"]["waitingFor"]) == ("waiting", ["weather"])


async def test_i30_a_render_failure_is_attributed_to_its_seat(house: House) -> None:
    async with house.page() as page:
        one = await loaded(house, page)
        body = {"run": one.run, "phase": "client-render", "slot": "session.header", "message": "boom", "stack": None}
        taken = [await page.post(f"/api/plugins/{one.plugin}/failure", body) for _ in range(3)]
        plugin = await row(page, one.plugin)
    assert [answer.json() for answer in taken] == [{"accepted": True}] * 3
    assert [(d["slot"], d["message"]) for d in plugin["diagnostics"]] == [("session.header", "boom")]
    assert plugin["activeRun"]["run"] == one.run and plugin["activeRun"]["client"]["status"] == "failed"


async def test_a_half_that_was_cut_off_is_over(house: House) -> None:
    async with house.page() as page:
        one = await loaded(house, page)
        body = {"run": one.run, "phase": "guard", "message": "it did not answer for 700 ms"}
        assert (await page.post(f"/api/plugins/{one.plugin}/failure", body)).json() == {"accepted": True}
        plugin = await row(page, one.plugin)
        again = await page.post(f"/api/plugins/{one.plugin}/failure", body)
    assert plugin["activeRun"] is None and plugin["latest"]["status"] == "failed"
    assert plugin["latest"]["detail"] == "guard" and again.json() == {"accepted": False}


async def test_j7_a_run_from_the_panel_opens_the_card_and_is_itself_no_consent(house: House) -> None:
    session = await house.session()
    package = await house.package(session, "dice-1")
    async with house.page() as page:
        body = {"package": package, "mode": "run", "key": "panel"}
        first = await page.post("/api/plugins/dice-1/run", body)
        again = await page.post("/api/plugins/dice-1/run", body)
        other = await page.post("/api/plugins/dice-1/run", body | {"key": "second"})
        rows = (await page.get("/api/consents")).json()["consents"]
    assert first.json()["status"] == "awaiting-approval" and again.json() == first.json()
    assert (other.status_code, other.json()["error"]["code"]) == (409, "transition-in-flight")
    assert [one["run"] for one in rows] == [first.json()["run"]]
    events = [e.type for e in await house.store.read(session) if e.type.startswith("cordis/")]
    assert events == ["cordis/defined", "cordis/requested"]


async def test_j3_j4_a_single_tick_covers_the_version_and_a_double_tick_the_next_ones(house: House) -> None:
    async with house.page() as page:
        one = await loaded(house, page)
        await page.post(f"/api/plugins/{one.plugin}/stop", {"key": "k1"})
        body = {"package": one.package, "mode": "run", "key": "again"}
        same = (await page.post(f"/api/plugins/{one.plugin}/run", body)).json()
        again = Waiting(house, one.session, one.plugin, one.package, same["run"])
        await again.reached("client-pending")
        await verdict(page, again)
        newer = await house.package(one.session, one.plugin, client="return () => 'newer'")
        body = {"package": newer, "mode": "update", "key": "newer"}
        card = (await page.post(f"/api/plugins/{one.plugin}/run", body)).json()
        assert (await row(page, one.plugin))["activeRun"]["run"] == again.run
        asked = Waiting(house, one.session, one.plugin, newer, card["run"])
        await asked.say(page, width="future")
        await asked.reached("client-pending")
        await verdict(page, asked)
        third = await house.package(one.session, one.plugin, client="return () => 'third'")
        body = {"package": third, "mode": "update", "key": "third"}
        free = (await page.post(f"/api/plugins/{one.plugin}/run", body)).json()
    assert (same["status"], card["status"], free["status"]) == ("starting", "awaiting-approval", "starting")


async def test_a_consent_that_is_taken_back_ends_nothing_and_the_next_start_asks(house: House) -> None:
    async with house.page() as page:
        one = await loaded(house, page)
        both = await page.post(f"/api/plugins/{one.plugin}/revoke", {"key": "r"})
        foreign = await page.post(f"/api/plugins/{one.plugin}/revoke", {"package": "pkg-999", "key": "r"})
        body = {"package": one.package, "key": "r"}
        answers = [await page.post(f"/api/plugins/{one.plugin}/revoke", body) for _ in range(2)]
        plugin = await row(page, one.plugin)
        await page.post(f"/api/plugins/{one.plugin}/stop", {"key": "k"})
        run = {"package": one.package, "mode": "run", "key": "again"}
        again = await page.post(f"/api/plugins/{one.plugin}/run", run)
    assert both.json()["error"]["code"] == "bad-revoke" and foreign.json()["error"]["code"] == "package-missing"
    assert [answer.json()["consents"] for answer in answers] == [[], []]
    assert plugin["activeRun"]["run"] == one.run and plugin["packages"][0]["consented"] is False
    assert again.json()["status"] == "awaiting-approval"
    [event] = await one.events("cordis/revoked")
    assert event.data["who"]["name"] == "owner" and event.data["package"] == one.package


async def test_i26_i27_h10_stop_keeps_and_undefine_forgets_and_both_can_be_said_twice(house: House) -> None:
    async with house.page() as page:
        one = await loaded(house, page)
        path = f"/api/plugins/{one.plugin}"
        stops = [(await page.post(f"{path}/stop", {"key": f"k{n}"})).json()["wasRunning"] for n in range(2)]
        kept = await row(page, one.plugin)
        gone = await page.post(f"{path}/undefine", {"key": "k"})
        after = (await page.get("/api/plugins")).json()["plugins"]
        again = await page.post(f"{path}/undefine", {"key": "k"})
    assert stops == [True, False] and kept["state"] == "stopped" and kept["current"] == one.package
    assert kept["packages"][0]["consented"] is True
    assert gone.json() == {"plugin": one.plugin, "wasRunning": False} and after == []
    assert (again.status_code, again.json()["error"]["code"]) == (404, "plugin-missing")


async def test_j11_under_never_a_package_that_needs_consent_is_refused_at_once(house: House) -> None:
    session = await house.session(policy=Policy.NEVER)
    package = await house.package(session, "dice-1")
    async with house.page() as page:
        body = {"package": package, "mode": "run", "key": "k"}
        answer = await page.post("/api/plugins/dice-1/run", body)
        assert (await page.get("/api/consents")).json()["total"] == 0
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "rejected")


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"package": "pkg-999"}, 404, "package-missing"),
        ({"mode": "update"}, 409, "invalid-mode"),
        ({"mode": "start"}, 422, "bad-value"),
        ({"package": "pkg-x"}, 422, "bad-value"),
        ({"key": ""}, 422, "bad-value"),
    ],
    ids=repr,
)
async def test_i1_a_run_that_cannot_be_is_refused_with_its_reason(
    house: House, change: dict[str, Any], status: int, code: str
) -> None:
    session = await house.session()
    package = await house.package(session, "dice-1")
    async with house.page() as page:
        answer = await page.post("/api/plugins/dice-1/run", {"package": package, "mode": "run", "key": "k"} | change)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_i32_invoke_answers_in_the_order_of_the_contract(house: House) -> None:
    async with house.page() as page:
        one = await waiting(house)

        async def code(**change: Any) -> str:
            body = {"run": one.run, "method": "roll", "args": None} | change
            answer = await page.post(f"/api/plugins/{one.plugin}/invoke", body)
            return f"{answer.status_code} {answer.json()['error']['code']}"

        assert await code() == "409 plugin-not-running"
        await one.say(page)
        await one.reached("client-pending")
        assert await code(run="run-999") == "409 stale-run"
        assert await code() == "409 method-not-found"
        deep: Any = 1
        for _ in range(150):
            deep = [deep]
        assert await code(args=deep) == "422 not-json"
        assert await code(args=2**60) == "422 not-json"
        assert await code(method="") == "422 bad-value"


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"run":"run-1","method":"m","args":NaN}', b'{"args":1e999}'])
async def test_hostile_json_to_a_plugin_is_a_plain_no(house: House, body: bytes) -> None:
    one = await waiting(house)
    async with house.page() as page:
        answer = await page.client.post(
            f"/api/plugins/{one.plugin}/invoke", content=body, headers={"Content-Type": "application/json"}
        )
    assert answer.status_code in (400, 422), answer.text


async def test_bodies_over_the_bound_are_refused(house: House) -> None:
    one = await waiting(house)
    async with house.page() as page:
        big = {"run": one.run, "method": "m", "args": "x" * (1 << 20)}
        answer = await page.post(f"/api/plugins/{one.plugin}/invoke", big)
        long = {"run": one.run, "phase": "client-render", "message": "x" * 30_000}
        message = await page.post(f"/api/plugins/{one.plugin}/failure", long)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too-large")
    assert message.status_code == 422


async def test_narrowing_the_mode_names_the_runs_that_it_ends_first(house: House) -> None:
    async with house.page() as page:
        one = await loaded(house, page)
        path = f"/api/sessions/{one.session}/permission"
        named = await page.post(path, {"mode": "read-only", "key": "k"})
        assert (await row(page, one.plugin))["state"] == "running"
        done = await page.post(path, {"mode": "read-only", "key": "k", "confirm": True})
        after = await row(page, one.plugin)
    assert (named.status_code, named.json()["error"]["code"]) == (409, "jobs-running")
    assert [(job["job"], job["mode"]) for job in named.json()["error"]["jobs"]] == [(one.run, "workspace-write")]
    assert done.status_code == 200
    assert (after["state"], after["latest"]["detail"]) == ("stopped", "narrowed")


async def test_putting_a_session_away_ends_what_runs_and_withdraws_what_waits(house: House) -> None:
    async with house.page() as page:
        one = await loaded(house, page, plugin="dice-1")
        two = await waiting(house, "coin-2", one.session)
        changed = await page.client.patch(f"/api/sessions/{one.session}", json={"archived": True, "key": "a"})
        assert changed.status_code == 200
        first, second = await row(page, one.plugin), await row(page, two.plugin)
        body = {"package": one.package, "mode": "run", "key": "k"}
        refused = await page.post(f"/api/plugins/{one.plugin}/run", body)
    assert changed.json()["openAsks"] == 0
    assert (first["state"], first["latest"]["detail"]) == ("stopped", "archived")
    assert (second["state"], second["pending"]) == ("cancelled", None)
    assert refused.status_code == 409


async def test_deleting_a_session_ends_its_plugins_and_removes_them(house: House) -> None:
    async with house.page() as page:
        one = await loaded(house, page)
        await house.append(one.session, Draft("turn/end", {"turn": 1, "reason": {"kind": "completed"}}, "end:1"))
        gone = await page.client.delete(f"/api/sessions/{one.session}")
        assert gone.status_code == 204, gone.text
        assert (await page.get("/api/plugins")).json()["plugins"] == []
        source = await page.get(f"/api/plugins/{one.plugin}/runs/{one.run}/source")
        card = await page.get(f"/api/consents/{one.run}")
    assert source.status_code == card.status_code == 404
