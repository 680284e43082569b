import { useEffect, useState } from "react";
import { nameOfSession } from "../session/name";
import { Boundary } from "../shell/Boundary";
import { Sheet } from "../shell/Sheet";
import { plain } from "../text/escaped";
import { Icon } from "../theme/icons";
import type { PluginView } from "../wire/shapes";
import type { PackageText } from "../wire/types";
import { useHouse, useHouseState } from "../wire/useHouse";
import { useWords } from "../words/words";
import { Agreed } from "./Agreed";
import { CodeOf } from "./CallCard";
import { PluginRow } from "./PluginRow";
import { halfOf } from "./reading";
import { grouped } from "./rows";

interface PanelProps {
  /** The session on screen, whose plugins come first. */
  session: string | null;
  onDecide: (run: string, session: string) => void;
}

/** Both halves of one version, to read; nothing can be answered here. */
const Reader = ({ of, onClose }: { of: { plugin: string; name: string } | null; onClose: () => void }) => {
  const house = useHouse();
  const words = useWords();
  const [text, setText] = useState<PackageText | null | "none">(null);
  useEffect(() => {
    let live = true;
    setText(null);
    if (of) void house.plugins.source(of.plugin, of.name).then((found) => live && setText(found ?? "none"));
    return () => {
      live = false;
    };
  }, [house, of]);
  const halves = text && text !== "none" ? (["client", "host"] as const).flatMap((name) => (text[name] === null ? [] : [halfOf(name, plain(text[name]))])) : [];
  return (
    <Sheet open={of !== null} onClose={onClose} title={of ? `${of.plugin}, ${of.name}` : ""} wide>
      {halves.length > 0 ? (
        <CodeOf halves={halves} />
      ) : (
        <p className="sub" role="status">
          {text === "none" ? words.plugin.undone("") : words.plugin.holdReading}
        </p>
      )}
      <div className="pair">
        <button type="button" className="btn" onClick={onClose}>
          {words.keys.close}
        </button>
      </div>
    </Sheet>
  );
};

/** All plugins of all sessions: what runs, what waits, what failed, and what was agreed to. */
export const Panel = (props: PanelProps) => {
  const words = useWords();
  const { plugins } = useHouseState("plugins");
  return (
    <Boundary of={plugins} says={words.shell.partNotDrawn}>
      <Rows {...props} />
    </Boundary>
  );
};

/** The panel as a column of its own, where there is no desk that it could lie on. */
export const PanelColumn = ({ onDecide, onClose }: Pick<PanelProps, "onDecide"> & { onClose: () => void }) => {
  const words = useWords();
  return (
    <aside className="desk" aria-label={words.plugin.panel} data-region="" tabIndex={-1}>
      <div className="desk-head">
        <h2>{words.plugin.panel}</h2>
        <button type="button" className="icon-btn" aria-label={words.keys.close} onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
      <div className="desk-panel">
        <Panel session={null} onDecide={onDecide} />
      </div>
    </aside>
  );
};

const Rows = ({ session, onDecide }: PanelProps) => {
  const house = useHouse();
  const { plugins, pluginsStale, sessions, connection } = useHouseState("plugins", "pluginsStale", "sessions", "connection");
  const words = useWords();
  const [reading, setReading] = useState<{ plugin: string; name: string } | null>(null);
  const online = connection.state === "up";
  useEffect(() => {
    if (online) void house.plugins.load();
  }, [house, online]);
  const all = plugins ?? [];
  const { here, others } = grouped(all, session);
  const name = (plugin: PluginView) => nameOfSession(plugin, sessions, words);
  const rows = (list: PluginView[], named: boolean) => (
    <ul>
      {list.map((plugin) => (
        <Boundary key={plugin.plugin} of={plugin} says={words.plugin.rowNotDrawn(plugin.plugin)} onAgain={() => void house.plugins.load()} around={(line) => <li className="prow">{line}</li>}>
          <PluginRow plugin={plugin} of={named ? name(plugin) : null} online={online} onDecide={onDecide} onRead={(id, version) => setReading({ plugin: id, name: version })} />
        </Boundary>
      ))}
    </ul>
  );
  return (
    <div className="panel">
      {pluginsStale && all.length > 0 && (
        <p className="hold" role="status">
          <Icon name="alert" />
          <span>{words.plugin.stale}</span>
        </p>
      )}
      {all.length === 0 && (
        <div className="desk-empty">
          <p>{plugins === null ? words.shell.loading : words.plugin.noPlugins}</p>
          <p className="sub">{words.plugin.noPluginsText}</p>
        </div>
      )}
      {here.length > 0 && (
        <section aria-labelledby="pl-here">
          <h2 className="eyebrow" id="pl-here">
            {words.plugin.thisSession(name(here[0]!))}
          </h2>
          {rows(here, false)}
        </section>
      )}
      {others.length > 0 && (
        <section aria-labelledby="pl-others">
          <h2 className="eyebrow" id="pl-others">
            {session === null ? words.plugin.allSessions : words.plugin.otherSessions}
          </h2>
          {rows(others, true)}
        </section>
      )}
      <Boundary of={plugins} says={words.shell.partNotDrawn}>
        <Agreed plugins={all} online={online} />
      </Boundary>
      <Reader of={reading} onClose={() => setReading(null)} />
    </div>
  );
};
