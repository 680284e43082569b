"""A fleet: two workers, a lease that may expire at any moment, page replicas that answer and stop, doorbells that get lost.

A paused worker is one that is simply not scheduled for a while; clocks that disagree are a lease that expires early. So the lease
gives no safety by itself. Each worker has its own place `pc`, the lease epoch that it believes in, and what it remembers.
"""
# ruff: noqa: E501, RUF012, C408 - one move per line, budgets as keywords: the file is read like a table
from __future__ import annotations

from typing import NamedTuple

from .ask import ALLOW, CANCEL, DENIALS, NOT_STARTED, SAYS, UNAVAIL
from .explore import Model, Step, main


class W(NamedTuple):
    pc: str = "idle"
    epoch: int = 0                       # 0: recovers without owning the session (only without `own_before_recovery`)
    out: tuple | None = None
    bell: bool = False                   # a notification is waiting for it


class S(NamedTuple):
    workers: tuple = (W(), W())
    epoch: int = 0                       # lease: epoch counts the owners
    holder: int = -1
    live: bool = False                   # not yet expired
    asked: bool = False
    decided: tuple | None = None
    ndecided: int = 0
    started: int = 0
    result: str = ""
    nresults: int = 0
    abort: bool = False
    ended: int = 0
    ran: int = 0
    sin: str = ""
    wasted: bool = False                 # allowed-once was accepted while the owner was dead or its lease had run out
    a: str = "no"
    b: str = "no"
    expire: int = 0
    crash: int = 0
    lose: int = 0
    odd: int = 0


class Fleet(Model):
    title = "fleet"
    fixes = ("fence", "fence_system", "own_before_recovery", "unique", "abort_checked", "reread", "honour")
    scenarios = {
        "zombie": dict(expire=2, crash=0, lose=0, odd=1),
        "death": dict(expire=0, crash=2, lose=1, odd=0),
        "both": dict(expire=2, crash=1, lose=1, odd=1),
        "limit": dict(expire=1, crash=0, lose=0, odd=0, limit=True),
    }
    limit = False

    def initial(self) -> S:
        return S(workers=(W("ask", 1), W()), epoch=1, holder=0, live=True, expire=self.expire, crash=self.crash, lose=self.lose, odd=self.odd)

    @staticmethod
    def at(s: S, i: int, **change: object) -> S:
        workers = list(s.workers)
        workers[i] = workers[i]._replace(**change)
        return s._replace(workers=tuple(workers))

    def append(self, s: S, i: int, what: str, commit: S, then: str, fenced: bool = True) -> list[Step]:
        """One durable append by worker i; with `fence` the store checks holder and epoch in the same transaction."""
        me = s.workers[i]
        if fenced and self.fence and me.epoch and (s.holder, s.epoch) != (i, me.epoch):
            return [Step(f"worker {i}: {what} refused, the lease has moved", self.at(s, i, pc="idle", out=None))]
        return [Step(f"worker {i} appends {what}", self.at(commit, i, pc=then))]

    def conclude(self, s: S, text: str) -> S:
        if s.nresults and self.unique:
            return s
        return s._replace(result=s.result or text, nresults=min(2, s.nresults + 1))

    def decide(self, s: S, i: int, outcome: str) -> S:
        if s.decided and self.unique:
            return self.at(s, i, out=s.decided)
        sin = s.sin
        if (s.holder, s.epoch) != (i, s.workers[i].epoch) and not s.abort and s.workers[i].epoch:
            sin = "a worker that had lost the session settled its ask"
        return self.at(s._replace(decided=s.decided or (outcome, "system"), ndecided=min(2, s.ndecided + 1), sin=sin), i, out=(outcome, "system"))

    def worker(self, s: S, i: int) -> list[Step]:
        me = s.workers[i]
        pc = me.pc
        name = f"worker {i}"
        if pc == "idle":
            moves = []
            if not s.live and not s.ended:
                taken = self.at(s._replace(epoch=s.epoch + 1, holder=i, live=True), i, pc="recover", epoch=s.epoch + 1, out=None, bell=False)
                moves.append(Step(f"{name} takes the lease, epoch {s.epoch + 1}", taken))
            elif not self.own_before_recovery and not s.ended:
                moves.append(Step(f"{name} loads the session and repairs it", self.at(s, i, pc="recover", epoch=0, out=None), False))
            return moves
        if pc == "down":
            return [Step(f"{name} restarts", self.at(s, i, pc="idle", epoch=0))]
        if pc == "ask":
            if s.abort:
                return self.append(s, i, "tool/result ABORTED_BEFORE_DISPATCH", self.conclude(s, "ABORTED_BEFORE_DISPATCH"), "end")
            return self.append(s, i, "approval/asked", s._replace(asked=True), "read")
        if pc == "read":
            return [Step(f"{name} reads the log, then subscribes", self.look(s, i) or self.at(s, i, pc="wait", bell=False))]
        if pc == "wait":
            moves = []
            if me.bell or self.reread:
                seen = self.look(self.at(s, i, bell=False), i)
                moves.append(Step(f"{name} reads again", seen or self.at(s, i, bell=False)))
            if s.odd:
                moves.append(Step(f"{name}: responder fails, deadline passes or the worker shuts down", self.at(s._replace(odd=s.odd - 1), i, pc="decide:" + UNAVAIL), False))
            return moves
        if pc.startswith("decide:"):
            return self.append(s, i, f"approval/decided {pc[7:]}", self.decide(s, i, pc[7:]), "after", self.fence_system)
        if pc == "after":
            if me.out[0] == ALLOW:
                return [Step(f"{name}: granted", self.at(s, i, pc="start"))]
            return self.append(s, i, f"tool/result {DENIALS[me.out[0]]}", self.conclude(s, DENIALS[me.out[0]]), "end")
        if pc == "start":
            if s.abort and self.abort_checked:
                return self.append(s, i, "tool/result ABORTED_BEFORE_DISPATCH", self.conclude(s, "ABORTED_BEFORE_DISPATCH"), "end")
            if s.started and self.unique:
                return [Step(f"{name}: tool/started is there already, stands down", self.at(s, i, pc="idle"))]
            sin = "tool/started after turn/abort" if s.abort else s.sin
            return self.append(s, i, "tool/started", s._replace(started=min(2, s.started + 1), sin=sin), "spawn")
        if pc == "spawn":
            sin = s.sin
            if not s.decided or s.decided[0] != ALLOW or not s.started:
                sin = "a body started without a durable grant"
            elif s.abort and self.limit:
                sin = "a body began after the stop: its tool/started was committed before, the worker was paused in between"
            return [Step(f"{name}: the body starts", self.at(s._replace(ran=min(2, s.ran + 1), sin=sin), i, pc="body"))]
        if pc == "body":
            text = "ABORTED" if s.abort else "ok"
            return self.append(s, i, f"tool/result {text}", self.conclude(s, text), "end")
        if pc == "end":
            return self.append(s, i, "turn/end", s._replace(ended=min(2, s.ended + (0 if s.ended and self.unique else 1))), "idle")
        if pc == "recover":
            return self.recover(s, i)
        return []

    def look(self, s: S, i: int) -> S | None:
        """What a waiting worker makes of the log: the decision, or a stop, or nothing yet."""
        if s.decided:
            return self.at(s, i, pc="after", out=s.decided)
        if s.abort:
            return self.at(s, i, pc="decide:" + CANCEL)
        return None

    def recover(self, s: S, i: int) -> list[Step]:
        def result(text: str) -> list[Step]:
            return self.append(s, i, f"tool/result {text} (recovery)", self.conclude(s, text), "recover")
        if s.ended:
            return [Step(f"worker {i}: nothing left to do", self.at(s, i, pc="idle"))]
        if s.result:
            return [Step(f"worker {i}: the turn goes on", self.at(s, i, pc="end"))]
        if s.started:
            return result("TOOL_OUTCOME_UNKNOWN")
        if s.abort:
            if s.asked and not s.decided:
                return self.append(s, i, "approval/decided cancelled (recovery)", self.decide(s, i, CANCEL), "recover", self.fence_system)
            return result("ABORTED_BEFORE_DISPATCH")
        if not s.asked:
            return result("TOOL_NOT_STARTED")
        if not s.decided:
            return [Step(f"worker {i} re-arms the ask", self.at(s, i, pc="read"))]
        if s.decided[0] == ALLOW:
            if self.honour:
                return [Step(f"worker {i} honours the unused grant", self.at(s, i, pc="after", out=s.decided))]
            return result("TOOL_NOT_STARTED")
        return result(DENIALS[s.decided[0]])

    def ring(self, s: S, what: str) -> list[Step]:
        """After a replica's append every waiting worker is notified, or (a fault) nobody is."""
        rung = s._replace(workers=tuple(w._replace(bell=True) if w.pc == "wait" else w for w in s.workers))
        lost = [Step(f"{what}; the notification is lost", s._replace(lose=s.lose - 1), False)] if s.lose else []
        return [Step(what, rung), *lost]

    def steps(self, s: S) -> list[Step]:
        moves = [m for i in (0, 1) for m in self.worker(s, i)]
        open_ = s.asked and not s.decided and not s.abort and not s.ended
        for who, outcome in SAYS.items():
            state = getattr(s, who)
            if state == "no" and open_:
                moves.append(Step(f"screen {who} shows the card", s._replace(**{who: "seen"}), who == "a"))
            elif state == "seen":
                if open_:
                    orphan = outcome == ALLOW and (not s.live or s.workers[s.holder].pc == "down")
                    commit = s._replace(decided=(outcome, who), ndecided=s.ndecided + 1, wasted=orphan, **{who: "accepted"})
                    moves += self.ring(commit, f"a replica appends approval/decided {outcome} ({who}): accepted")
                else:
                    moves.append(Step(f"{who}'s answer: refused", s._replace(**{who: "refused"})))
        if not s.abort and not s.ended:
            ring = self.ring(s._replace(abort=True), "a replica appends turn/abort, says stopping")
            moves += [m._replace(fair=False) for m in ring]
        if s.expire and s.live:
            moves.append(Step("the lease expires (pause, lost heartbeat or clock skew)", s._replace(live=False, expire=s.expire - 1), False))
        if s.live and s.holder >= 0 and s.workers[s.holder].pc in ("down", "idle"):
            moves.append(Step("the lease of a worker that does not renew it expires", s._replace(live=False)))
        for i, w in enumerate(s.workers):
            if s.crash and w.pc not in ("down", "idle"):
                moves.append(Step(f"worker {i} CRASHES", self.at(s._replace(crash=s.crash - 1), i, pc="down", epoch=0, out=None, bell=False), False))
        return moves

    def broken(self, s: S) -> list[str]:
        bad = [s.sin] if s.sin else []
        if s.ran > 1 or s.started > 1:
            bad.append("one grant started twice")
        if s.ndecided > 1:
            bad.append("an ask has two decisions in the log")
        if s.nresults > 1:
            bad.append("a call has two results")
        if s.wasted and s.result == "TOOL_NOT_STARTED":
            bad.append("a yes that was accepted while no worker was alive is thrown away")
        if s.ended > 1:
            bad.append("a turn ended twice")
        # the worker that committed tool/started and spawned nothing may still say ABORTED_BEFORE_DISPATCH
        if s.result in NOT_STARTED and (s.ran or (s.started and s.result != "ABORTED_BEFORE_DISPATCH")):
            bad.append(f"result says not started, but it did or tool/started is in the log ({s.result})")
        if s.result == "TOOL_OUTCOME_UNKNOWN" and not s.started:
            bad.append("result says outcome unknown, though the log proves that nothing started")
        if s.ended and (s.nresults != 1 or (s.asked and not s.decided)):
            bad.append("the turn ended with a call without result or an ask without decision")
        for who in SAYS:
            if getattr(s, who) == "accepted" and s.decided != (SAYS[who], who):
                bad.append("an answer was acknowledged as accepted and did not win")
        for outcome, text in DENIALS.items():
            if s.result == text and (not s.decided or s.decided[0] != outcome):
                bad.append(f"result {text}, but the log holds {s.decided}")
        return bad

    witnesses = {
        "the second worker ran the command": lambda s: s.result == "ok" and s.epoch > 1,
        "a zombie was refused": lambda s: s.ended and s.epoch > 1 and s.workers[0].pc == "idle" and s.crash == 1,
        "outcome unknown after a take-over": lambda s: s.result == "TOOL_OUTCOME_UNKNOWN" and s.ended,
        "stopped from a replica": lambda s: s.abort and s.ended and s.decided == (CANCEL, "system"),
    }

    def goal(self, s: S) -> bool:
        return bool(s.ended)


if __name__ == "__main__":
    raise SystemExit(main(Fleet))
