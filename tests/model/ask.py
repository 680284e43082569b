"""One ask, from the tool call to the end of the turn: crashes, lost appends, stale screens, stop, deadline, recovery.

Every durable append is a move of its own; between any two moves anything else may happen. The log is kept as facts
(which events exist), not as a list. Two screens answer: A says allow, B says reject. `pc` is where the worker stands.
"""
# ruff: noqa: E501, RUF012, C408 - one move per line, budgets as keywords: the file is read like a table
from __future__ import annotations

from typing import NamedTuple

from .explore import Model, Step, main

ALLOW, REJECT, CANCEL, UNAVAIL = "allowed-once", "rejected", "cancelled", "unavailable"
SAYS = {"a": ALLOW, "b": REJECT}
DENIALS = {REJECT: "said-rejected", CANCEL: "said-cancelled", UNAVAIL: "said-unavailable"}
NOT_STARTED = {"TOOL_NOT_STARTED", "ABORTED_BEFORE_DISPATCH", "said-error", *DENIALS.values()}


class S(NamedTuple):
    # the log
    called: bool = False                 # tool/call
    asked: bool = False                  # approval/asked; its subject names the mode below
    asked_policy: str = ""               # policy in force at the seq of `asked`
    asked_mode: int = 0                  # mode that the card shows
    decided: tuple | None = None      # first approval/decided: (outcome, by)
    ndecided: int = 0
    outer: bool = False                  # the call whose body asks has its tool/started (only `nested`)
    started: int = 0                     # tool/started of the action that was asked for
    result: str = ""                     # first tool/result
    nresults: int = 0
    abort: bool = False                  # turn/abort (only with `durable_abort`)
    ended: bool = False                  # turn/end
    policy: str = "ask"
    mode: int = 0
    row: tuple | None = None          # as written: the inbox's own table: ("open",), ("closed",) or (outcome, by)
    # the world
    ran: int = 0                         # how often the body was really started
    sin: str = ""                        # what was wrong at the moment something was done
    wasted: bool = False                 # allowed-once was accepted while no worker was alive
    # the worker
    pc: str = "call"
    out: tuple | None = None          # the outcome that it holds in memory
    sig: bool = False                    # the turn's abort signal
    # the people
    a: str = "no"                        # no, seen, sent, then told: accepted, refused, unknown
    b: str = "no"
    stop: bool = False                   # somebody pressed stop and was told "stopped"
    # faults that are left
    crash: int = 0
    store: int = 0
    net: int = 0
    knob: int = 0
    odd: int = 0                         # responder failure or deadline


class Ask(Model):
    title = "ask"
    fixes = ("one_truth", "durable_abort", "fail_stop", "policy_at_asked", "hide_never", "full_table", "signed_mode",
             "subject_from_log", "bad_digest_refused", "answer_key", "recheck", "asker_gone", "honour")
    scenarios = {
        "crash": dict(crash=2, store=0, net=0, knob=0, odd=1),
        "store": dict(crash=1, store=1, net=0, knob=0, odd=0),
        "net": dict(crash=1, store=0, net=1, knob=0, odd=1),
        "knobs": dict(crash=1, store=0, net=0, knob=2, odd=0),
        "nested": dict(crash=2, store=1, net=0, knob=0, odd=0, nested=True),
        "storm": dict(crash=2, store=1, net=1, knob=1, odd=1),
    }

    nested = False                       # the ask is made inside the body of another call, which has its tool/started already

    def initial(self) -> S:
        return S(called=self.nested, outer=self.nested, pc="ask" if self.nested else "call", crash=self.crash, store=self.store, net=self.net, knob=self.knob, odd=self.odd)

    # ---- one durable append by the worker ------------------------------------------------------------------------------------

    def append(self, s: S, what: str, commit: S, then: str, on_error: str) -> list[Step]:
        """The append succeeds; or (a store fault) fails; or commits and its acknowledgement is lost."""
        moves = [Step(f"worker appends {what}", commit._replace(pc=then))]
        if s.store:
            less = s.store - 1
            if self.fail_stop:
                # An append whose fate is unknown is looked up by its key: there -> go on, not there -> again. Store gone -> the worker ends.
                moves += [
                    Step(f"store refuses {what}; worker tries again", s._replace(store=less), False),
                    Step(f"store refuses {what}; worker ends", self.dead(s)._replace(store=less), False),
                    Step(f"{what} commits, ack lost; worker finds it by its key", commit._replace(pc=then, store=less), False),
                    Step(f"{what} commits, ack lost; worker ends", self.dead(commit)._replace(store=less), False),
                ]
            else:
                moves += [
                    Step(f"store refuses {what}", s._replace(pc=on_error, store=less, out=(UNAVAIL, "system")), False),
                    Step(f"{what} commits, ack lost", commit._replace(pc=on_error, store=less, out=(UNAVAIL, "system")), False),
                ]
        return moves

    def decide(self, s: S, outcome: str, by: str) -> S:
        """approval/decided. With `one_truth` it is refused when one is there already, and the worker takes the one that won."""
        if s.decided and self.one_truth:
            return s._replace(out=s.decided)
        return s._replace(decided=s.decided or (outcome, by), ndecided=min(2, s.ndecided + 1), out=(outcome, by))

    def conclude(self, s: S, text: str) -> S:
        """tool/result. With `fail_stop` its key is the call, so that a second one is refused."""
        if s.nresults and self.fail_stop:
            return s
        return s._replace(result=s.result or text, nresults=min(2, s.nresults + 1))

    @staticmethod
    def dead(s: S) -> S:
        return s._replace(pc="dead", out=None, sig=False)

    # ---- the worker -----------------------------------------------------------------------------------------------------------

    def worker(self, s: S) -> list[Step]:
        pc = s.pc
        if pc == "call":
            return self.append(s, "tool/call", s._replace(called=True), "ask", "result:said-error")
        if pc == "ask":
            if s.sig:
                return [Step("worker sees the stop before asking", s._replace(pc="result:ABORTED_BEFORE_DISPATCH"))]
            asked = s._replace(asked=True, asked_policy=s.policy, asked_mode=s.mode)
            return self.append(s, f"approval/asked (policy {s.policy})", asked, "check", "result:said-error")
        if pc == "check":
            policy = s.asked_policy if self.policy_at_asked else s.policy
            if s.sig:
                return [Step("worker: stopped already", s._replace(pc="decide:cancelled"))]
            if policy == "never":
                return [Step("worker: policy is never", s._replace(pc="decide:never"))]
            if self.one_truth:
                return [Step("worker waits for the chain", s._replace(pc="wait"))]
            row = s.row if s.row and s.row[0] in (ALLOW, REJECT) and self.row_kept else ("open",)
            return self.append(s, "the inbox row", s._replace(row=row), "wait", "decide:unavailable")
        if pc == "wait":
            moves = []
            if self.one_truth and s.decided:
                moves.append(Step("worker reads the decision in the log", s._replace(out=s.decided, pc="after")))
            if not self.one_truth and s.row and s.row[0] in (ALLOW, REJECT, UNAVAIL):
                moves.append(Step(f"worker sees the answered row ({s.row[0]})", s._replace(out=s.row, pc="decide:answer")))
            if s.sig:
                moves.append(Step("worker sees the stop while waiting", s._replace(pc="decide:cancelled")))
            if s.odd:
                moves.append(Step("the responder fails or the deadline passes", s._replace(pc="decide:unavailable", odd=s.odd - 1), False))
            return moves
        if pc.startswith("decide:"):
            why = pc[7:]
            outcome, by = {"never": (REJECT, "policy"), "cancelled": (CANCEL, "system"), "unavailable": (UNAVAIL, "system"), "answer": s.out}[why]
            return self.append(s, f"approval/decided {outcome} ({by})", self.decide(s, outcome, by), "after" if self.one_truth else "close", "after")
        if pc == "close":
            row = ("closed",) if s.row == ("open",) else s.row
            return [Step("worker closes the inbox row", s._replace(row=row, pc="after"))]
        if pc == "after":
            if s.out[0] != ALLOW:
                return [Step("worker: denied", s._replace(pc="result:" + DENIALS[s.out[0]]))]
            return [Step("worker: stopped after the grant", s._replace(pc="result:ABORTED_BEFORE_DISPATCH")) if s.sig else Step("worker: granted", s._replace(pc="start"))]
        if pc == "start":
            if self.durable_abort and s.abort:
                return [Step("store refuses tool/started: the turn is stopped", s._replace(pc="result:ABORTED_BEFORE_DISPATCH"))]
            sin = "tool/started after the stop was acknowledged" if s.stop else s.sin
            return self.append(s, "tool/started", s._replace(started=min(2, s.started + 1), sin=sin), "spawn", "result:said-error")
        if pc == "spawn":
            if s.sig and self.recheck:
                return [Step("worker sees the stop just before the body", s._replace(pc="result:ABORTED_BEFORE_DISPATCH"))]
            return [Step("the body starts", self.spawn(s))]
        if pc == "body":
            return [Step("the body is killed", s._replace(pc="result:ABORTED")) if s.sig else Step("the body finishes", s._replace(pc="result:ok"))]
        if pc.startswith("result:"):
            return self.append(s, f"tool/result {pc[7:]}", self.conclude(s, pc[7:]), "end", "dead")
        if pc == "end":
            return self.append(s, "turn/end", s._replace(ended=True), "done", "dead")
        if pc == "dead":
            return [Step("restart: recovery begins", s._replace(pc="recover"))]
        if pc == "recover":
            return self.recover(s)
        return []

    def spawn(self, s: S) -> S:
        mode = s.asked_mode if self.signed_mode else s.mode
        sin = s.sin
        if not s.decided or s.decided[0] != ALLOW or not s.started:
            sin = "a body started without a durable grant"
        elif mode != s.asked_mode:
            sin = "a body started in another mode than the card showed"
        elif s.stop:
            sin = "a body started after the stop was acknowledged"
        return s._replace(ran=min(2, s.ran + 1), sin=sin, pc="body")

    def recover(self, s: S) -> list[Step]:
        """The table of section 4. Each row is an append of its own, so that a crash can fall between any two."""
        def result(text: str) -> list[Step]:
            return self.append(s, f"tool/result {text} (recovery)", self.conclude(s, text), "recover", "dead")
        if s.ended:
            return [Step("recovery: nothing to do", s._replace(pc="done"))]
        if s.result:
            return [Step("recovery: the turn goes on", s._replace(pc="end"))]
        if s.outer and s.asked and not s.decided and self.asker_gone:
            return self.append(s, "approval/decided cancelled, asker-gone (recovery)", self.decide(s, CANCEL, "system"), "recover", "dead")
        if s.started or s.outer:
            return result("TOOL_OUTCOME_UNKNOWN")
        if not s.called:
            return result("TOOL_NOT_STARTED")
        if s.abort:                                             # only with durable_abort
            if s.asked and not s.decided:
                return self.append(s, "approval/decided cancelled (recovery)", self.decide(s, CANCEL, "system"), "recover", "dead")
            return result("ABORTED_BEFORE_DISPATCH")
        if not s.asked:
            return result("TOOL_NOT_STARTED" if self.full_table else "TOOL_OUTCOME_UNKNOWN")
        if not s.decided:
            if s.stop:
                s = s._replace(sin="the card of a stopped turn came back after a restart")
            if s.mode != s.asked_mode and not self.subject_from_log:
                s = s._replace(sin="the card came back with another subject than `asked` holds")
            if self.policy_at_asked or self.rearm_checks_policy:
                return [Step("recovery: the ask is re-armed", s._replace(pc="check"))]
            return [Step("recovery: the ask is re-armed, the card is back", s._replace(pc="wait", row=("open",) if not self.one_truth else None))]
        if s.decided[0] == ALLOW:
            if self.honour:
                return [Step("recovery: the unused grant is honoured", s._replace(pc="after", out=s.decided))]
            return result("TOOL_NOT_STARTED")
        return result(DENIALS[s.decided[0]] if self.full_table else "TOOL_OUTCOME_UNKNOWN")

    rearm_checks_policy = False          # as written, second reading: recovery goes through steps 3 and 4 of section 5 again
    row_kept = False                     # as written, second reading: an answered inbox row survives the re-arming

    # ---- the people -----------------------------------------------------------------------------------------------------------

    def visible(self, s: S) -> bool:
        if not self.one_truth:
            return s.row == ("open",)
        return s.asked and not s.decided and not s.abort and (s.asked_policy == "ask" or not self.hide_never)

    def person(self, s: S, who: str) -> list[Step]:
        state, outcome, fair = getattr(s, who), SAYS[who], who == "a"
        def told(base: S, news: str) -> S:
            return base._replace(**{who: news})
        if state == "no":
            return [Step(f"screen {who} shows the card", told(s, "seen"), fair)] if self.visible(s) else []
        if state == "seen":
            moves = [Step(f"{who} clicks {outcome}", told(s, "sent"), fair)]
            if s.odd and who == "b":
                less = s._replace(odd=s.odd - 1)
                if self.bad_digest_refused or not self.visible(s):
                    moves.append(Step("b's page sends another digest: bad-response", less, False))
                else:
                    bad = self.decide(less, UNAVAIL, "digest")._replace(out=s.out) if self.one_truth else less._replace(row=(UNAVAIL, "digest"))
                    moves.append(Step("b's page sends another digest: counts as unavailable", bad, False))
            return moves
        if state == "unknown":
            return [Step(f"{who} sends the same answer again", told(s, "sent"), fair)]
        if state != "sent":
            return []
        if self.one_truth:
            mine = s.decided == (outcome, who)
            if s.decided or s.abort or s.ended:
                commit, news = s, "accepted" if mine and self.answer_key else "refused"
            else:
                commit, news = s._replace(decided=(outcome, who), ndecided=s.ndecided + 1), "accepted"
                if outcome == ALLOW and s.pc in ("dead", "recover") and not s.outer:
                    commit = commit._replace(wasted=True)
        elif s.row == ("open",):
            commit, news = s._replace(row=(outcome, who)), "accepted"
        else:
            commit, news = s, "accepted" if s.row == (outcome, who) and self.answer_key else "refused"
        moves = [Step(f"{who}'s answer: {news}", told(commit, news))]
        if s.net:
            moves.append(Step(f"{who}'s answer: {news}, but the reply is lost", told(commit, "unknown")._replace(net=s.net - 1), False))
        if s.store and commit is not s:
            moves.append(Step(f"the store refuses {who}'s answer", told(s, "unknown")._replace(store=s.store - 1), False))
        if s.pc == "dead":
            moves.append(Step(f"{who}'s answer meets a dead server", told(s, "unknown"), False))
        return moves

    def steps(self, s: S) -> list[Step]:
        moves = self.worker(s) + self.person(s, "a") + self.person(s, "b")
        if not s.stop and not s.ended and (self.durable_abort or s.pc != "dead"):
            moves.append(Step("somebody presses stop and is told so", s._replace(stop=True, sig=s.pc != "dead", abort=self.durable_abort), False))
        if s.crash and s.pc not in ("dead", "done"):
            moves.append(Step("CRASH", self.dead(s)._replace(crash=s.crash - 1), False))
        if s.knob and not s.ended:
            moves.append(Step("policy flips", s._replace(policy="never" if s.policy == "ask" else "ask", knob=s.knob - 1), False))
            moves.append(Step("the standing mode changes", s._replace(mode=1 - s.mode, knob=s.knob - 1), False))
        return moves

    # ---- what must hold -------------------------------------------------------------------------------------------------------

    def broken(self, s: S) -> list[str]:
        bad = []
        if s.sin:
            bad.append(s.sin)
        if s.ran > 1 or s.started > 1:
            bad.append("one grant started twice")
        if s.ndecided > 1:
            bad.append("an ask has two decisions in the log")
        if s.nresults > 1:
            bad.append("a call has two results")
        if s.decided and s.decided[1] == "policy" and s.asked_policy != "never":
            bad.append("a policy change answered an open card")
        if s.decided and s.decided[1] in SAYS and s.asked_policy == "never":
            bad.append("a person was asked although the policy was never")
        for who in SAYS:
            if getattr(s, who) == "accepted" and s.decided and s.decided != (SAYS[who], who):
                bad.append("an answer was acknowledged as accepted and did not win")
            if getattr(s, who) == "refused" and s.decided == (SAYS[who], who):
                bad.append("the winner was told that the answer was refused")
        if s.a == s.b == "accepted":
            bad.append("two answers were acknowledged as accepted")
        if s.result in NOT_STARTED and s.ran:
            bad.append(f"result says not started, but the body started ({s.result})")
        if s.wasted and s.result == "TOOL_NOT_STARTED":
            bad.append("a yes that was accepted while no worker was alive is thrown away")
        if s.decided and s.decided[1] == "digest":
            bad.append("an answer with a wrong digest settled the ask")
        if s.result == "TOOL_OUTCOME_UNKNOWN" and not s.started and not s.outer:
            bad.append("result says outcome unknown, though the log proves that nothing started")
        for outcome, text in DENIALS.items():
            if s.result == text and (not s.decided or s.decided[0] != outcome):
                bad.append(f"result {text}, but the log holds {'no decision' if not s.decided else s.decided[0]}")
        if s.ended and s.asked and not s.decided:
            bad.append("the turn ended and an ask has no decision")
        if s.ended and s.nresults != 1:
            bad.append("the turn ended and a call has no result")
        return bad

    witnesses = {
        "a granted command ran": lambda s: s.result == "ok" and s.a == "accepted",
        "a re-armed ask was answered": lambda s: s.crash == 0 and s.ended and s.decided and s.decided[1] in SAYS,
        "stop won against an open card": lambda s: s.ended and s.stop and s.decided == (CANCEL, "system"),
        "one screen lost and was told so": lambda s: {s.a, s.b} == {"accepted", "refused"},
    }

    def goal(self, s: S) -> bool:
        return s.ended and s.pc == "done" and s.a not in ("sent", "unknown")


if __name__ == "__main__":
    raise SystemExit(main(Ask))
