import { useId, useState } from "react";
import { type HalfState, useHalves, useHalvesState } from "../half";
import { Ids } from "../text/Ids";
import { oneLine } from "../text/visible";
import { VisibleText } from "../text/Visible";
import { Icon, Status } from "../theme/icons";
import type { PluginView, Summary } from "../wire/shapes";
import type { Undone } from "../wire/plugins";
import { useHouse, useHouseState } from "../wire/useHouse";
import { span } from "../words/times";
import { useNow } from "../words/useNow";
import { type Words, useWords } from "../words/words";
import { halfRun } from "./loading";
import { isStarting, isUp, loadable, offered, packageOf, type Start, startsOf } from "./rows";
import { rowStatus, runningBeside } from "./status";
import { type Failed, Trouble } from "./Trouble";

export interface PluginRowProps {
  plugin: PluginView;
  /** The session's name, where it is not the one on screen. */
  of: string | null;
  online: boolean;
  onDecide: (run: string, session: string) => void;
  onRead: (plugin: string, name: string) => void;
}

const startWord = (start: Start, words: Words): string => {
  switch (start.word) {
    case "again":
      return words.plugin.runAgain;
    case "retry":
      return words.plugin.retry;
    case "ask":
      return words.plugin.askAgain;
    case "update":
      return words.plugin.update(start.package);
    case "back":
      return words.plugin.back(start.package);
    default:
      return words.plugin.run;
  }
};

/** Why a gesture came to nothing, in words for the person; the server's own where there are none here. */
const whyNot = (undone: Undone, session: Summary | undefined, words: Words): string => {
  const code = undone.code !== "rejected" ? undone.code : session?.archived ? "archived" : session?.policy === "never" ? "never" : "";
  return words.plugin.undone(words.plugin.refusal[code] ?? undone.refused);
};

/** What went wrong: the last attempt, what broke later on the server, and what broke in this page alone. */
const failuresOf = (plugin: PluginView, here: HalfState | undefined): Failed[] => {
  const { latest, diagnostics, activeRun } = plugin;
  const failed: Failed[] = [];
  if (latest?.error && latest.status !== "rejected") failed.push({ phase: latest.phase ?? "", ...latest.error });
  for (const one of diagnostics) if (!failed.some((known) => known.message === one.message)) failed.push({ phase: one.half === "host" && !one.phase.startsWith("host-") ? "host-run" : one.phase, message: one.message, stack: one.stack, slot: one.slot });
  if (here?.text && !failed.some((known) => known.message === here.text || here.text!.includes(known.message))) failed.push({ phase: here.phase ?? "page", message: here.text, slot: here.slot });
  return activeRun || latest ? failed.slice(-4) : failed;
};

const Note = ({ plugin, here }: { plugin: PluginView; here: HalfState | undefined }) => {
  const words = useWords();
  const now = useNow(isStarting(plugin));
  const { latest, activeRun } = plugin;
  const listed = (services: readonly string[]) => services.map((one) => oneLine(one, 40)).join(", ");
  const name = latest?.package ?? plugin.packages.at(-1)?.package ?? "";
  const ended = latest && activeRun && latest.run !== activeRun.run && (latest.status === "rejected" || latest.status === "failed") ? latest : null;
  const text = (() => {
    if (plugin.pending) return words.plugin.noteWaits(plugin.pending.package);
    switch (plugin.state) {
      case "defined":
        return words.plugin.noteDefined;
      case "starting-host":
        return words.plugin.noteStarting(name, span(now - (latest?.requestedAt ?? now)));
      case "client-pending":
        return here?.state === "loading" ? words.plugin.loadingHere : words.plugin.notePending(name);
      case "running":
      case "waiting":
        if (!activeRun) return "";
        if (activeRun.host.waitingFor.length) return words.plugin.noteWakes(listed(activeRun.host.waitingFor));
        if (activeRun.client.waitingFor.length) return words.plugin.noteNeverHere(listed(activeRun.client.waitingFor));
        if (!activeRun.clientHalf) return words.plugin.noteHost(activeRun.package);
        if (here?.state === "loading") return words.plugin.loadingHere;
        if (here && here.state !== "failed") return activeRun.host.status === "absent" ? words.plugin.noteClientHere : words.plugin.noteBothHere;
        return words.plugin.noteNotHere(activeRun.package);
      case "rejected":
        return latest?.error ? words.plugin.detail.policy! : words.plugin.noteRejected(name); // a person who declines leaves no error
      case "cancelled":
        return latest?.detail && latest.detail !== "stopped" ? (words.plugin.detail[latest.detail] ?? oneLine(latest.detail, 120)) : words.plugin.noteCancelled(name);
      case "failed":
        if (packageOf(plugin, name)?.hasClientHalf === false) return words.plugin.noteFailedHost(name);
        return packageOf(plugin, name)?.consented ? words.plugin.noteFailed(name) : words.plugin.noteFailedAsks(name);
      case "stopped":
        return [latest?.detail && latest.detail !== "stopped" ? words.plugin.detail[latest.detail] : "", words.plugin.noteStopped].filter(Boolean).join(" ");
      default:
        return "";
    }
  })();
  const before = ended && !plugin.pending && plugin.state !== ended.status ? (ended.status === "rejected" ? words.plugin.noteRejected(ended.package) : words.plugin.noteFailedAsks(ended.package)) : "";
  return text || before ? <p className="prow-n"><Ids text={[before, text].filter(Boolean).join(" ")} /></p> : null;
};

const Remove = ({ online, onRemove, onKeep }: { online: boolean; onRemove: () => void; onKeep: () => void }) => {
  const words = useWords();
  return (
    <div className="prow-sure" role="group" aria-label={words.plugin.remove}>
      <p className="sub">{words.plugin.removeSure}</p>
      <button type="button" className="btn small" onClick={onKeep} autoFocus>
        {words.plugin.removeNo}
      </button>
      <button type="button" className="btn small stop" disabled={!online} onClick={onRemove}>
        {words.plugin.removeYes}
      </button>
    </div>
  );
};

/** One plugin: what it is, what of it runs, what went wrong, and what a person can do with it. */
export const PluginRow = ({ plugin, of, online, onDecide, onRead }: PluginRowProps) => {
  const house = useHouse();
  const words = useWords();
  const halves = useHalves();
  const { sessions } = useHouseState("sessions");
  const active = plugin.activeRun;
  const here = useHalvesState().runs[active?.run ?? ""];
  const pickId = useId();
  const titleId = useId();
  const [chosen, setChosen] = useState<string | null>(null);
  const [removing, setRemoving] = useState(false);
  const [busy, setBusy] = useState(false);
  const [undone, setUndone] = useState<Undone | null>(null);
  const picked = packageOf(plugin, chosen) ? chosen! : offered(plugin);

  const act = async (what: () => Promise<Undone | object | null>) => {
    setBusy(true);
    setUndone(null);
    const answer = await what();
    setBusy(false);
    if (answer && "refused" in answer) setUndone(answer as Undone);
    return answer;
  };
  const start = async (one: Start) => {
    const answer = (await act(() => house.plugins.run(plugin.plugin, one.package, one.mode))) as { run?: string; status?: string } | null;
    if (answer?.status === "awaiting-approval" && answer.run) onDecide(answer.run, plugin.session);
  };
  const run = loadable(plugin);
  const mayLoad = halves !== null && run !== null && active !== null && (here === undefined || here.state === "failed") && !(active.status === "client-pending" && here?.state !== "failed");
  const load = () => {
    if (!halves || !run || !active) return;
    if (here) halves.unload(run);
    void halves.load({ ...halfRun(plugin, run, active.package), verdict: active.status === "client-pending" });
  };
  const disabled = busy || !online;
  const shown = (plugin.current === null && plugin.pending && packageOf(plugin, plugin.pending.package)) || plugin; // what waits, where nothing of it is current
  const beside = plugin.pending && runningBeside(plugin, plugin.pending.package);

  return (
    <li className="prow" aria-labelledby={titleId} data-plugin={plugin.plugin}>
      <div className="prow-h">
        <h3 id={titleId}>{oneLine(shown.name, 80)}</h3>
        <code className="sub">{plugin.plugin}</code>
        <span className="prow-s">
          {rowStatus(plugin, words).map((look) => (
            <Status key={look.word} hue={look.hue} icon={look.icon} spin={look.spin} tag>
              {look.word}
            </Status>
          ))}
        </span>
      </div>
      <p className="prow-d">
        <VisibleText text={oneLine(shown.purpose, 400)} />
        {of !== null && (
          <span className="sub">
            {" "}
            · {words.plugin.inSession}
            {oneLine(of, 60)}
          </span>
        )}
      </p>
      <Note plugin={plugin} here={here} />
      {failuresOf(plugin, here).map((failed, index) => (
        <Trouble key={index} failed={failed} />
      ))}
      <div className="prow-f">
        <span className="prow-v">
          {plugin.packages.length > 1 && (
            <>
              <label className="vh" htmlFor={pickId}>
                {words.plugin.versionOf(plugin.plugin)}
              </label>
              <select id={pickId} className="field ver" value={picked ?? ""} onChange={(event) => setChosen(event.target.value)}>
                {[...plugin.packages].reverse().map((one) => (
                  <option key={one.package} value={one.package}>
                    {one.package === plugin.current ? words.plugin.versionNow(one.package) : one.package}
                  </option>
                ))}
              </select>
            </>
          )}
          {picked && (
            <button type="button" className="link" onClick={() => onRead(plugin.plugin, picked)}>
              {words.plugin.readCode}
            </button>
          )}
        </span>
        <span className="prow-a">
          {plugin.pending && (
            <button type="button" className="btn small ink" onClick={() => onDecide(plugin.pending!.run, plugin.session)}>
              {words.plugin.decide}
            </button>
          )}
          {mayLoad && (
            <button type="button" className="btn small" disabled={!online} onClick={load}>
              <Icon name="window" />
              {words.plugin.loadHere}
            </button>
          )}
          {picked &&
            startsOf(plugin, picked).map((one) => (
              <button key={one.word} type="button" className="btn small" disabled={disabled} onClick={() => void start(one)}>
                {startWord(one, words)}
              </button>
            ))}
          {isStarting(plugin) && !plugin.pending && (
            <button type="button" className="btn small" disabled={disabled} onClick={() => void act(() => house.plugins.stop(plugin.plugin))}>
              {words.plugin.cancel}
            </button>
          )}
          {((isUp(plugin) && !isStarting(plugin) && !plugin.pending) || beside) && (
            <button type="button" className="btn small stop" disabled={disabled} onClick={() => void act(() => house.plugins.stop(plugin.plugin))}>
              {words.plugin.stop}
            </button>
          )}
          {!removing && (
            <button type="button" className="btn small quiet" disabled={disabled} onClick={() => setRemoving(true)}>
              {words.plugin.remove}
            </button>
          )}
        </span>
      </div>
      {removing && (
        <Remove
          online={online}
          onKeep={() => setRemoving(false)}
          onRemove={() => {
            setRemoving(false);
            void act(() => house.plugins.remove(plugin.plugin));
          }}
        />
      )}
      {undone && (
        <p className="hold" role="alert">
          <Icon name="alert" />
          <span>{oneLine(whyNot(undone, sessions?.find((one) => one.id === plugin.session), words), 400)}</span>
        </p>
      )}
    </li>
  );
};
