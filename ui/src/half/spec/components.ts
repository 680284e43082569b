import { type Kind, address, classes, either, flag, listOf, number, oneOf, paint, pathData, picture, points, record, text, transform, viewBox } from "./kinds";

/** What a component takes: properties, the events it tells of with the kinds of their arguments, and what may stand in it. */
export interface Spec {
  readonly props: { readonly [name: string]: Kind<unknown> };
  readonly events: { readonly [name: string]: readonly Kind<unknown>[] };
  readonly kids: "nodes" | "text" | "none";
}

const spec = (props: Spec["props"], kids: Spec["kids"] = "none", events: Spec["events"] = {}): Spec => ({ props, kids, events });

/** Steps of placet's spacing: 2 is 8 pixels. */
const gap = number(0, 8);
const align = oneOf("start", "center", "end", "stretch");
const tone = oneOf("plain", "quiet", "good", "bad", "busy");
const label = text(200);
const cell = either(text(400), number(-1e15, 1e15));
const word = text(2_000);
const written = text(20_000);

const drawn = { fill: paint, stroke: paint, strokeWidth: number(0, 200), opacity: number(0, 1), transform, className: classes };
const far = number(-100_000, 100_000);
const long = number(0, 100_000);

/** Every component a half may draw; there is no other way to draw. */
export const components = {
  Stack: spec({ gap, align, className: classes }, "nodes"),
  Row: spec({ gap, align, justify: oneOf("start", "center", "end", "between"), wrap: flag, className: classes }, "nodes"),
  Text: spec({ size: oneOf("small", "medium", "large"), strong: flag, tone, heading: flag, className: classes }, "nodes"),
  Code: spec({ block: flag, className: classes }, "text"),
  Badge: spec({ tone, className: classes }, "text"),
  Button: spec({ label, tone: oneOf("plain", "quiet", "strong"), disabled: flag, className: classes }, "nodes", { onPress: [] }),
  TextField: spec({ label, value: written, placeholder: label, multiline: flag, disabled: flag, className: classes }, "none", { onChange: [written], onSubmit: [written] }),
  Select: spec({ label, value: word, options: listOf(record({ value: word, label }), 500), disabled: flag, className: classes }, "none", { onChange: [word] }),
  Checkbox: spec({ label, checked: flag, disabled: flag, className: classes }, "none", { onChange: [flag] }),
  Table: spec({ caption: label, columns: listOf(label, 30), rows: listOf(listOf(cell, 30), 500), className: classes }),
  List: spec({ ordered: flag, className: classes }, "nodes"),
  Progress: spec({ label, value: number(0, 1), className: classes }),
  Chart: spec({
    label, kind: oneOf("line", "bar"), height: number(40, 400), labels: listOf(text(40), 500),
    series: listOf(record({ name: text(60), points: listOf(number(-1e15, 1e15), 500) }), 6), className: classes,
  }),
  Link: spec({ href: address, className: classes }, "text"),
  Image: spec({ data: picture, label, width: number(1, 1_000), height: number(1, 1_000), className: classes }),
  svg: spec({ ...drawn, viewBox, width: number(1, 2_000), height: number(1, 2_000), label }, "nodes"),
  g: spec(drawn, "nodes"),
  path: spec({ ...drawn, d: pathData }),
  rect: spec({ ...drawn, x: far, y: far, width: long, height: long, rx: long }),
  circle: spec({ ...drawn, cx: far, cy: far, r: long }),
  ellipse: spec({ ...drawn, cx: far, cy: far, rx: long, ry: long }),
  line: spec({ ...drawn, x1: far, y1: far, x2: far, y2: far }),
  polyline: spec({ ...drawn, points }),
  polygon: spec({ ...drawn, points }),
  text: spec({ ...drawn, x: far, y: far, fontSize: number(4, 200), textAnchor: oneOf("start", "middle", "end") }, "text"),
} satisfies { [name: string]: Spec };

export type ComponentName = keyof typeof components;

export const specOf = (name: unknown): Spec | null => (typeof name === "string" && Object.hasOwn(components, name) ? components[name as ComponentName] : null);

/** SVG shapes stand in an svg and nothing else does. */
export const shapes: ReadonlySet<string> = new Set(["g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text"]);
