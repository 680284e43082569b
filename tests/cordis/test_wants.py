"""What a package names in its code: found by looking, in a time that no text can stretch."""

from __future__ import annotations

import time

import pytest

from placet.cordis.checking.wants import wants
from placet.cordis.definition import LARGEST, Code


def test_services_and_seats_are_named_in_their_order() -> None:
    host = "inject = ['files', \"web\"]\nasync def apply(ctx):\n    await ctx.shell.run('ls')\n    ctx.get('weather')\n"
    client = "return {inject: ['slots'], apply(ctx) { ctx.slots.register({name: 'session.header'}) }}"
    found = wants(Code(host, client))
    assert found.services == ("files", "web", "weather", "shell", "slots")
    assert (found.host, found.client) == (("files", "web", "weather", "shell"), ("slots",))
    assert found.seats == ("session.header",)


def test_a_word_that_happens_to_stand_in_a_text_is_no_service() -> None:
    client = "return {apply(ctx) { ctx.slots.register({name: 'session.header'}, () => `${n} files in the folder`) }}"
    assert wants(Code("async def apply(ctx):\n    await ctx.files.list('.')\n", client)).client == ("slots",)


@pytest.mark.parametrize(
    "piece", ["inject=[", "inject: (' ", "ctx . ", "ctx.get('", "ctx.a ", "inject = ['" + "a" * 90]
)
def test_attack_26_no_text_holds_the_server_up(piece: str) -> None:
    def seconds(text: str) -> float:
        code = Code((text * (LARGEST // len(text)))[:LARGEST], None)
        started = time.perf_counter()
        wants(code)
        return time.perf_counter() - started

    plain = min(seconds("x = ctx.timer; ") for _ in range(3))
    hostile = min(seconds(piece) for _ in range(3))
    assert hostile < 12 * plain
