import { type ReactNode, createContext, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Boundary } from "../shell/Boundary";
import { oneLine } from "../text/visible";
import { VisibleText } from "../text/Visible";
import { Icon } from "../theme/icons";
import { useHalfWords } from "../words/half";
import type { Json } from "../wire/shapes";
import type { SessionFacts } from "./doors";
import type { Registered } from "./half";
import type { Halves, HalvesState } from "./halves";
import { Mirror, type View } from "./mirror/Mirror";
import { type SeatName, seats } from "./spec/seats";

/** What a view on a tool card is told of its call. */
export interface ToolCardData {
  key: string;
  name: string;
  arguments: string;
  status: "running" | "done" | "failed";
  text: string;
  value: Json;
}

const Held = createContext<Halves | null>(null);
/** Holds the halves of this page; without it every seat draws its usual content. */
export const HalvesProvider = Held.Provider;

/** The session that is shown around a seat, for seats that are not told. */
const Around = createContext<SessionFacts | null>(null);
export const SeatSession = Around.Provider;

const nothing: HalvesState = { runs: {}, views: [] };
const unsubscribed = (): (() => void) => () => undefined;

export const useHalves = (): Halves | null => useContext(Held);
export const useHalvesState = (): HalvesState => {
  const halves = useContext(Held);
  return useSyncExternalStore(halves?.subscribe ?? unsubscribed, () => halves?.snapshot() ?? nothing);
};

/** The views alone, which change seldom: what a half says on its console draws no seat anew. */
export const useViews = (): HalvesState["views"] => {
  const halves = useContext(Held);
  return useSyncExternalStore(halves?.subscribe ?? unsubscribed, () => halves?.snapshot().views ?? nothing.views);
};

const FAR = "400px";

const inWindow = (element: Element): boolean => {
  const { top, bottom, left, right, width } = element.getBoundingClientRect();
  return width > 0 && bottom >= 0 && right >= 0 && top <= innerHeight && left <= innerWidth;
};

/** True from when the place is near what can be seen, of the window and of what scrolls in it. */
const useNear = (place: React.RefObject<HTMLElement | null>): boolean => {
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (!place.current || near) return;
    const seen = place.current.closest(".half") ?? place.current;
    if (inWindow(seen)) return setNear(true); // no need to wait for a frame
    const watch = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setNear(true), { rootMargin: FAR, scrollMargin: FAR } as IntersectionObserverInit);
    watch.observe(seen);
    return () => watch.disconnect();
  }, [place, near]);
  return near;
};

/** The drawing of one view, once it is near; `onEmpty` tells whether it draws anything at all. */
const Drawn = ({ registered, properties, onEmpty, box }: { registered: Registered; properties: Json; onEmpty: (empty: boolean) => void; box: React.RefObject<HTMLElement | null> }) => {
  const { half, view: number } = registered;
  const near = useNear(box);
  const [held, setHeld] = useState<{ root: number; view: View } | null>(null);
  const first = useRef(properties);
  const id = `${half.scope} ${number}`;

  useLayoutEffect(() => {
    if (!near) return;
    const mounted = half.mount(registered, first.current);
    setHeld(mounted);
    return () => {
      if (mounted) half.unmount(mounted.root);
      setHeld(null);
    };
    // the record of a view changes with its height; its identity is half and number
  }, [near, id]);

  const told = useRef(properties);
  useEffect(() => {
    first.current = properties;
    if (held && told.current !== properties && JSON.stringify(told.current) !== JSON.stringify(properties)) half.update(held.root, properties);
    told.current = properties;
  }, [held, half, properties]);

  const tree = held?.view.tree;
  const empty = useSyncExternalStore(
    useMemo(() => (tree ? (listener: () => void) => tree.subscribe(0, listener) : unsubscribed), [tree]),
    () => tree?.empty ?? true,
  );
  useLayoutEffect(() => onEmpty(empty), [empty, onEmpty]);

  useEffect(() => {
    const place = box.current;
    if (!place) return;
    const watch = new ResizeObserver(() => half.sized(registered.slot, place.clientWidth, place.clientHeight));
    watch.observe(place);
    return () => watch.disconnect();
  }, [box, half, registered.slot]);

  return held && <Mirror view={held.view} onBroken={(error) => half.breakView(registered, error.message, "")} />;
};

/** Gives a field that was taken away and made anew under the hand its focus and caret back, within this box only. */
const useKeptFocus = (box: React.RefObject<HTMLElement | null>): void => {
  useEffect(() => {
    const place = box.current;
    if (!place) return;
    let last: { label: string | null; at: number; from: number | null; to: number | null; element: Element } | null = null;
    const fields = () => [...place.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input[type=text], textarea")];
    const keep = () => {
      const element = document.activeElement;
      if (!(element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) || !place.contains(element)) {
        if (element !== document.body) last = null;
        return;
      }
      last = { label: element.labels?.[0]?.textContent ?? null, at: fields().indexOf(element), from: element.selectionStart, to: element.selectionEnd, element };
    };
    const watch = new MutationObserver(() => {
      if (!last || last.element.isConnected || document.activeElement !== document.body) return;
      const { label, at, from, to } = last;
      const again = fields().find((one, index) => (label === null ? index === at : one.labels?.[0]?.textContent === label));
      last = null;
      if (!again) return place.focus({ preventScroll: true }); // keys then go nowhere, and not to the page's own shortcuts
      again.focus({ preventScroll: true });
      again.setSelectionRange(from, to);
    });
    watch.observe(place, { childList: true, subtree: true });
    for (const event of ["focusin", "focusout", "keyup", "input", "pointerup"]) document.addEventListener(event, keep);
    return () => {
      watch.disconnect();
      for (const event of ["focusin", "focusout", "keyup", "input", "pointerup"]) document.removeEventListener(event, keep);
    };
  }, [box]);
};

interface BoxProps {
  registered: Registered;
  properties: Json;
  /** Not this one's turn: it is kept running, and not shown. */
  aside?: boolean;
  onEmpty: (empty: boolean) => void;
  empty: boolean;
}

/** One view under the line that says whose it is, in a box that it cannot leave. */
const Box = ({ registered, properties, aside = false, onEmpty, empty }: BoxProps) => {
  const words = useHalfWords();
  const name = registered.half.run.name;
  const box = useRef<HTMLDivElement>(null);
  useKeptFocus(box);
  return (
    <section className={empty || aside ? "half empty" : "half"} aria-label={words.drawnBy(oneLine(name, 80))} inert={empty || aside || undefined}>
      <p className="half-head">
        <Icon name="tool" />
        <span>
          {words.drawnByBefore}
          <b>
            <VisibleText text={oneLine(name, 80)} />
          </b>
          {words.drawnByAfter}
        </span>
      </p>
      <div className="half-box" ref={box} data-half={registered.half.scope} tabIndex={-1} style={{ height: registered.height }}>
        <Drawn registered={registered} properties={properties} onEmpty={onEmpty} box={box} />
      </div>
    </section>
  );
};

const Broken = ({ registered, bare }: { registered: Registered; bare: boolean }) => {
  const words = useHalfWords();
  return (
    <p className="half-broken" role="status">
      <Icon name="alert" />
      <span>
        {(bare ? words.brokeBare : words.broke)(oneLine(registered.half.run.name, 60))} <VisibleText text={oneLine(registered.broken ?? "", 200)} />
      </span>
    </p>
  );
};

const order = (a: Registered, b: Registered): number => a.priority - b.priority || b.order - a.order;

/** One view at a time: the first that draws something, else the usual content. */
const First = ({ views, all, properties, fallback }: { views: Registered[]; all: boolean; properties: Json; fallback: ReactNode }) => {
  const [empties, setEmpties] = useState<Record<string, boolean>>({});
  const idOf = (one: Registered) => `${one.half.scope} ${one.view}`;
  const tried = all ? views : views.slice(0, 1);
  const [usual, setUsual] = useState(false);
  const words = useHalfWords();
  const drawing = tried.find((one) => empties[idOf(one)] === false);
  const shown = usual ? undefined : drawing;
  const setters = useRef(new Map<string, (empty: boolean) => void>());
  const setter = (id: string) => {
    const made = setters.current.get(id) ?? ((empty: boolean) => setEmpties((old) => (old[id] === empty ? old : { ...old, [id]: empty })));
    setters.current.set(id, made);
    return made;
  };
  return (
    <>
      {tried.map((one) => (
        <Box key={idOf(one)} registered={one} properties={properties} aside={one !== shown} onEmpty={setter(idOf(one))} empty={empties[idOf(one)] !== false} />
      ))}
      {!shown && fallback}
      {drawing && fallback && (
        <p className="half-usual">
          <button type="button" className="link" onClick={() => setUsual(!usual)}>
            {usual ? words.drawn : words.usual}
          </button>
        </p>
      )}
    </>
  );
};

const Listed = ({ registered, properties }: { registered: Registered; properties: Json }) => {
  const [empty, setEmpty] = useState(true);
  return <Box registered={registered} properties={properties} onEmpty={setEmpty} empty={empty} />;
};

export interface SeatProps {
  name: SeatName;
  /** The session that is shown here; halves of others have no place in it. */
  session?: string;
  call?: ToolCardData;
  facts?: SessionFacts | null;
  /** What stands here while no half draws anything. */
  fallback?: ReactNode;
}

/** A place where halves may draw. While none does it is exactly its fallback, and where that cannot be drawn it is that too. */
export const Seat = (props: SeatProps) => {
  const words = useHalfWords();
  const views = useViews();
  return (
    <Boundary of={views} says={words.notDrawn} around={(line) => <>{props.fallback}{line}</>}>
      <Place {...props} />
    </Boundary>
  );
};

const Place = ({ name, session, call, facts, fallback = null }: SeatProps) => {
  const around = useContext(Around);
  const shown = facts ?? around;
  const views = useViews();
  const seat = seats[name];
  const here = views.filter((one) => one.slot === name && (seat.scope === "root" || one.half.run.session === (session ?? shown?.id)) && (seat.kind !== "keyed" || one.key === call?.name));
  const properties = useMemo<Json>(() => ({ slot: name, ...(call && { call: call as unknown as Json }), ...(shown && seat.scope === "session" && { session: shown as unknown as Json }) }), [name, call, shown, seat.scope]);
  if (here.length === 0) return fallback;
  const broken = here.filter((one) => one.broken !== null);
  const whole = here.filter((one) => one.broken === null);
  return (
    <div className={`half-seat seat-${name.replaceAll(".", "-")}`}>
      {broken.slice(0, 3).map((one) => (
        <Broken key={`${one.half.scope} ${one.view}`} registered={one} bare={!fallback} />
      ))}
      {seat.kind === "list" ? (
        <>
          {whole.map((one) => (
            <Listed key={`${one.half.scope} ${one.view}`} registered={one} properties={properties} />
          ))}
          {whole.length === 0 && fallback}
        </>
      ) : (
        <First views={seat.kind === "chain" ? [...whole].sort(order) : whole} all={seat.kind === "chain"} properties={properties} fallback={fallback} />
      )}
    </div>
  );
};
