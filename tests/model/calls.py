"""Parallel calls of one assistant message: several asks, equal call ids, stop, crash, results in order.

Calls 0 and 1 ask; the model gave both the same call id and the same arguments. Call 2 needs no ask. All run at once. Answers go
straight into the log (model `ask` shows why). Recovery handles one call after the other, so that a crash can fall between two.
"""
# ruff: noqa: E501, RUF012, C408 - one move per line, budgets as keywords: the file is read like a table
from __future__ import annotations

from typing import NamedTuple

from .ask import ALLOW, CANCEL, DENIALS, NOT_STARTED, REJECT
from .explore import Model, Step, main


class C(NamedTuple):
    called: bool = False
    asked: bool = False
    decided: str | None = None
    started: int = 0
    result: str = ""
    nresults: int = 0
    ran: int = 0
    pc: str = "call"
    lost: bool = False                   # it had finished and the worker knew, but its result was kept back


class S(NamedTuple):
    calls: tuple
    mode: str = "live"                   # the worker: live, dead, or recovering call `todo`
    todo: int = 0
    sig: bool = False
    abort: bool = False                  # turn/abort
    stop: bool = False                   # a person was told that the turn is stopped
    ended: bool = False
    sin: str = ""
    crash: int = 0


IDS = ("x", "x", "y")
ASKS = (True, True, False)


class Calls(Model):
    title = "calls"
    fixes = ("position_key", "as_they_come", "durable_abort", "abort_checked", "full_table", "signal_from_log")
    scenarios = {"two": dict(count=2, crash=2), "three": dict(count=3, crash=1)}

    def initial(self) -> S:
        return S(calls=(C(),) * self.count, crash=self.crash)

    @staticmethod
    def at(s: S, i: int, **change: object) -> S:
        calls = list(s.calls)
        calls[i] = calls[i]._replace(**change)
        return s._replace(calls=tuple(calls))

    def result(self, s: S, i: int, text: str, then: str) -> S:
        c = s.calls[i]
        if c.nresults and self.position_key:
            return self.at(s, i, pc=then)
        return self.at(s, i, result=c.result or text, nresults=min(2, c.nresults + 1), pc=then)

    def call(self, s: S, i: int) -> list[Step]:
        c, pc = s.calls[i], s.calls[i].pc
        stopped = s.sig or (s.abort and self.abort_checked)
        if pc == "call":
            return [Step(f"call {i}: tool/call", self.at(s, i, called=True, pc="ask" if ASKS[i] else "start"))]
        if pc in ("ask", "start") and stopped:
            return [Step(f"call {i}: stopped", self.at(s, i, pc="held:ABORTED_BEFORE_DISPATCH"))]
        if pc == "ask":
            return [Step(f"call {i}: signal looked at", self.at(s, i, pc="asking"))]
        if pc == "asking":
            if self.abort_checked and s.abort:
                return [Step(f"call {i}: approval/asked refused, the turn is stopped", self.at(s, i, pc="held:ABORTED_BEFORE_DISPATCH"))]
            sin = "a call asked after the stop was acknowledged" if s.stop else s.sin
            return [Step(f"call {i}: approval/asked", self.at(s._replace(sin=sin), i, asked=True, pc="wait"))]
        if pc == "wait":
            if c.decided:
                return [Step(f"call {i}: reads {c.decided}", self.at(s, i, pc="start" if c.decided == ALLOW else "held:" + DENIALS[c.decided]))]
            if s.sig:
                return [Step(f"call {i}: approval/decided cancelled", self.at(s, i, decided=CANCEL, pc="held:" + DENIALS[CANCEL]))]
            return []
        if pc == "start":
            return [Step(f"call {i}: signal looked at, goes to start", self.at(s, i, pc="starting"))]
        if pc == "starting":
            if self.abort_checked and s.abort:
                return [Step(f"call {i}: tool/started refused, the turn is stopped", self.at(s, i, pc="held:ABORTED_BEFORE_DISPATCH"))]
            sin = s.sin
            if s.stop:
                sin = "tool/started after the stop was acknowledged"
            elif ASKS[i] and c.decided != ALLOW:
                sin = "a call started on the grant of another call"
            return [Step(f"call {i}: tool/started", self.at(s._replace(sin=sin), i, started=min(2, c.started + 1), pc="spawn"))]
        if pc == "spawn":
            if s.sig:
                return [Step(f"call {i}: stopped just before the body", self.at(s, i, pc="held:ABORTED_BEFORE_DISPATCH"))]
            return [Step(f"call {i}: the body starts", self.at(s, i, ran=min(2, c.ran + 1), pc="body"))]
        if pc == "body":
            return [Step(f"call {i}: the body ends", self.at(s, i, pc="held:ABORTED" if s.sig else "held:ok"))]
        if pc.startswith("held:") and (self.as_they_come or all(x.result for x in s.calls[:i])):
            return [Step(f"call {i}: tool/result {pc[5:]}", self.result(s, i, pc[5:], "over"))]
        return []

    def view(self, s: S, i: int) -> C:
        """What recovery reads about call i: with `position_key` its own events; else all events that carry its call id."""
        if self.position_key:
            return s.calls[i]
        same = [c for c, x in zip(s.calls, IDS, strict=False) if x == IDS[i]]
        last = lambda field: next((getattr(c, field) for c in reversed(same) if getattr(c, field)), getattr(C(), field))  # noqa: E731
        return C(called=last("called"), asked=last("asked"), decided=last("decided"), started=last("started"), result=last("result"))

    def recover(self, s: S) -> list[Step]:
        i = s.todo
        if s.ended:
            return [Step("recovery: nothing to do", s._replace(mode="live"))]
        if i == len(s.calls):
            return [Step("recovery is complete", s._replace(mode="live", todo=0, sig=s.abort and self.signal_from_log))]
        c, on = self.view(s, i), s._replace(todo=i + 1)
        def result(text: str) -> list[Step]:
            return [Step(f"recovery: call {i} tool/result {text}", self.result(on, i, text, "over"))]
        if c.result:
            return [Step(f"recovery: call {i} has its result", self.at(on, i, pc="over"))]
        if c.started:
            return result("TOOL_OUTCOME_UNKNOWN")
        if not c.called:
            return result("TOOL_NOT_STARTED")
        if s.abort:
            if c.asked and not c.decided:
                return [Step(f"recovery: call {i} approval/decided cancelled", self.at(s, i, decided=CANCEL))]
            return result("ABORTED_BEFORE_DISPATCH")
        if not c.asked:
            return result("TOOL_NOT_STARTED" if self.full_table else "TOOL_OUTCOME_UNKNOWN")
        if not c.decided:
            sin = "the card of a stopped turn came back after a restart" if s.stop else s.sin
            return [Step(f"recovery: call {i} is re-armed", self.at(on._replace(sin=sin), i, pc="wait"))]
        if c.decided == ALLOW:
            return [Step(f"recovery: call {i} goes on with its grant", self.at(on, i, pc="start"))]
        return result(DENIALS[c.decided] if self.full_table else "TOOL_OUTCOME_UNKNOWN")

    def steps(self, s: S) -> list[Step]:
        moves: list[Step] = []
        if s.mode == "live" and not s.ended:
            for i in range(len(s.calls)):
                moves += self.call(s, i)
            if all(c.pc == "over" for c in s.calls):
                moves.append(Step("turn/end (the model saw all results)", s._replace(ended=True)))
        elif s.mode == "dead":
            moves.append(Step("restart: recovery begins", s._replace(mode="recover", todo=0)))
        elif s.mode == "recover":
            moves += self.recover(s)
        for i, c in enumerate(s.calls):
            if c.asked and not c.decided and not s.ended and not s.abort:
                moves += [Step(f"a person answers ask {i}: {o}", self.at(s, i, decided=o)) for o in (ALLOW, REJECT)]
        if not s.stop and not s.ended and (self.durable_abort or s.mode == "live"):
            moves.append(Step("stop is pressed and acknowledged", s._replace(stop=True, sig=s.mode == "live", abort=self.durable_abort), False))
        if s.crash and s.mode != "dead" and not s.ended:
            kept = [not self.as_they_come and c.pc == "held:ok" and not all(x.result for x in s.calls[:i]) for i, c in enumerate(s.calls)]
            calls = tuple(c._replace(pc="gone", lost=c.lost or k) for c, k in zip(s.calls, kept, strict=False))
            moves.append(Step("CRASH", s._replace(calls=calls, mode="dead", sig=False, todo=0, crash=s.crash - 1), False))
        return moves

    def broken(self, s: S) -> list[str]:
        bad = [s.sin] if s.sin else []
        for _i, c in enumerate(s.calls):
            if c.ran > 1 or c.started > 1:
                bad.append("one grant started twice")
            if c.nresults > 1:
                bad.append("a call has two results")
            if c.result in NOT_STARTED and c.ran:
                bad.append(f"result says not started, but the body started ({c.result})")
            if c.result == "TOOL_OUTCOME_UNKNOWN" and not c.started:
                bad.append("result says outcome unknown, though the log proves that nothing started")
            if c.result == "TOOL_OUTCOME_UNKNOWN" and c.lost:
                bad.append("a finished command is reported as outcome unknown, because its result waited for another call")
            for outcome, text in DENIALS.items():
                if c.result == text and c.decided != outcome:
                    bad.append(f"result {text}, but the log holds {c.decided}")
            if s.ended and c.nresults != 1:
                bad.append("the transcript is not valid: a call has no result")
            if s.ended and c.asked and not c.decided:
                bad.append("the turn ended and an ask has no decision")
        return bad

    witnesses = {
        "one allowed, its twin rejected": lambda s: s.ended and s.calls[0].result == "ok" and s.calls[1].decided == REJECT,
        "a later call finished first": lambda s: len(s.calls) == 3 and s.calls[2].result == "ok" and not s.calls[0].decided,
        "stop in the middle": lambda s: s.ended and s.calls[0].result == "ok" and s.calls[1].decided == CANCEL,
    }

    def goal(self, s: S) -> bool:
        return s.ended


if __name__ == "__main__":
    raise SystemExit(main(Calls))
