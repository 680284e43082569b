import type { ReactNode } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Panel } from "../plugin/Panel";
import { useHouseState } from "../wire/useHouse";
import { useWords } from "../words/words";

interface DeskColumnProps {
  label: string;
  /** Nothing lies on the desk, so that a narrow screen needs no room for it. */
  idle: boolean;
  /** How many wait here. */
  waiting: number;
  session: string | null;
  /** The way to what waits elsewhere. */
  aside?: ReactNode;
  /** Whether the plugins lie on top of the desk; null where they have another place. */
  panel: boolean | null;
  onPanel: (open: boolean) => void;
  onDecide: (run: string, session: string) => void;
  /** Whether the column has a head even without plugins. */
  headed?: boolean;
  children: ReactNode;
}

/** The right column: the sheet that waits for an answer, and in a second tab the plugins. */
export const DeskColumn = ({ label, idle, waiting, session, aside, panel, onPanel, onDecide, headed = false, children }: DeskColumnProps) => {
  const words = useWords();
  const { plugins } = useHouseState("plugins");
  const some = panel !== null && (panel || (plugins?.length ?? 0) > 0);
  const count = waiting > 0 && <span className="count">{waiting}</span>;
  return (
    <aside className={idle ? "desk idle" : "desk"} aria-label={label} data-region="" tabIndex={-1}>
      {some ? (
        <Tabs className="desk-all" selectedKey={panel ? "plugins" : "decide"} onSelectionChange={(key) => onPanel(key === "plugins")}>
          <div className="desk-head tabbed">
            <TabList className="tabs" aria-label={label}>
              <Tab id="decide">
                {words.shell.toDecide}
                {count}
              </Tab>
              <Tab id="plugins">
                {words.plugin.panel}
                <span className="sub num">{plugins?.length ?? 0}</span>
              </Tab>
            </TabList>
            {!panel && aside}
          </div>
          <TabPanel id="decide" className="desk-in">
            {children}
          </TabPanel>
          <TabPanel id="plugins" className="desk-panel">
            <Panel session={session} onDecide={onDecide} />
          </TabPanel>
        </Tabs>
      ) : (
        <>
          {headed && (
            <div className="desk-head">
              <h2>{words.shell.toDecide}</h2>
              {count}
              {aside}
            </div>
          )}
          <div className="desk-in">{children}</div>
        </>
      )}
    </aside>
  );
};
