import { Component, type ReactNode, createContext, memo, useCallback, useContext, useMemo, useSyncExternalStore } from "react";
import type { Json } from "../../wire/shapes";
import { drawings } from "./drawings";
import type { Tree } from "./tree";

/** A view as it is drawn: its tree, and where its events go. `send` gives the number of the event. */
export interface View {
  readonly tree: Tree;
  /** What was typed last and the half may not have seen: a field that takes the place of another one goes on from it. */
  typing: { label: string; text: string; event: number } | null;
  send(node: number, event: string, args: Json[]): number;
}

/** What a drawing of one component gets: checked properties, children, and the events that the half listens to. */
export interface Drawn {
  readonly props: Readonly<Record<string, unknown>>;
  readonly children: ReactNode;
  readonly kids: readonly ReactNode[];
  /** Tells the half; gives the number of the event, or null where it does not listen. */
  readonly tell: (event: string, ...args: Json[]) => number | null;
  readonly listens: (event: string) => boolean;
  /** The number of the last event that the half had seen. */
  readonly acknowledged: () => number;
  readonly view: View;
}

const Shown = createContext<View | null>(null);

const Node = memo(({ id }: { id: number }) => {
  const view = useContext(Shown)!;
  const { tree } = view;
  const subscribe = useCallback((listener: () => void) => tree.subscribe(id, listener), [tree, id]);
  useSyncExternalStore(subscribe, () => tree.get(id)?.version ?? -1);
  const tell = useMemo(
    () =>
      (event: string, ...args: Json[]): number | null =>
        tree.get(id)?.listens.has(event) ? view.send(id, event, args) : null,
    [tree, view, id],
  );
  const node = tree.get(id);
  if (!node || node.hidden) return null;
  if (node.text !== null) return node.text;
  const kids = node.kids.map((kid) => <Node key={kid} id={kid} />);
  if (node.type === null) return kids;
  const Drawing = drawings[node.type as keyof typeof drawings];
  return (
    <Drawing props={node.props} kids={kids} tell={tell} listens={(event: string) => node.listens.has(event)} acknowledged={() => tree.acknowledged} view={view}>
      {kids.length ? kids : null}
    </Drawing>
  );
});

interface EdgeProps {
  onBroken: (error: Error) => void;
  children: ReactNode;
}

/** Where drawing a view fails in the page itself, the rest of the page goes on. */
class Edge extends Component<EdgeProps, { broken: boolean }> {
  override state = { broken: false };
  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true };
  }
  override componentDidCatch(error: Error): void {
    this.props.onBroken(error);
  }
  override render(): ReactNode {
    return this.state.broken ? null : this.props.children;
  }
}

/** Draws the tree of one view with the page's own components. */
export const Mirror = ({ view, onBroken }: { view: View; onBroken: (error: Error) => void }) => (
  <Edge onBroken={onBroken}>
    <Shown.Provider value={view}>
      <Node id={0} />
    </Shown.Provider>
  </Edge>
);
