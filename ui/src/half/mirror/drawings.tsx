import { type FC, createElement, useMemo, useState } from "react";
import { Sheet } from "../../shell/Sheet";
import { VisibleText } from "../../text/Visible";
import { Icon, type IconName } from "../../theme/icons";
import { useHalfWords } from "../../words/half";
import type { ComponentName } from "../spec/components";
import { Chart } from "./Chart";
import { pictureOf } from "./image";
import type { Drawn } from "./Mirror";
import { TextFieldDrawing } from "./TextField";

const names = (...all: (string | false | undefined)[]): string => all.filter(Boolean).join(" ");
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const choice = (prefix: string, value: unknown, usual: string): string => `${prefix}${typeof value === "string" ? value : usual}`;

const box =
  (kind: "stack" | "row"): FC<Drawn> =>
  ({ props, children }) => (
    <div className={names(`half-${kind}`, `gap-${Math.round(typeof props.gap === "number" ? props.gap : 2)}`, choice("align-", props.align, kind === "row" ? "center" : "stretch"), choice("justify-", props.justify, "start"), props.wrap === true && "wraps", text(props.className))}>
      {children}
    </div>
  );

const TextDrawing: FC<Drawn> = ({ props, children }) => (
  <p className={names("half-text", choice("size-", props.size, "medium"), choice("tone-", props.tone, "plain"), props.strong === true && "strong", props.heading === true && "strong", text(props.className))} role={props.heading === true ? "heading" : undefined} aria-level={props.heading === true ? 4 : undefined}>
    {children}
  </p>
);

const CodeDrawing: FC<Drawn> = ({ props, children }) =>
  props.block === true ? <pre className={names("half-code", text(props.className))}>{children}</pre> : <code className={text(props.className)}>{children}</code>;

const marks: Record<string, IconName> = { good: "check", bad: "alert", busy: "work" };
const BadgeDrawing: FC<Drawn> = ({ props, children }) => {
  const tone = text(props.tone) || "plain";
  return (
    <span className={names("half-badge", `tone-${tone}`, text(props.className))}>
      {marks[tone] && <Icon name={marks[tone]} />}
      {children}
    </span>
  );
};

const ButtonDrawing: FC<Drawn> = ({ props, children, tell }) => (
  <button
    type="button"
    className={names("btn small", props.tone === "quiet" && "quiet", props.tone === "strong" && "half-strong", text(props.className))}
    disabled={props.disabled === true}
    aria-label={typeof props.label === "string" ? props.label : undefined}
    onClick={() => void tell("onPress")}
  >
    {children}
  </button>
);

const SelectDrawing: FC<Drawn> = ({ props, tell, acknowledged }) => {
  const [chosen, setChosen] = useState({ value: "", event: 0 });
  const options = (props.options as { value: string; label: string }[] | undefined) ?? [];
  const value = acknowledged() < chosen.event ? chosen.value : text(props.value);
  return (
    <label className="half-field">
      {text(props.label)}
      <select
        className={names("field", text(props.className))}
        value={value}
        disabled={props.disabled === true}
        onChange={(event) => {
          const next = event.currentTarget.value;
          setChosen({ value: next, event: tell("onChange", next) ?? 0 });
        }}
      >
        {options.every((option) => option.value !== value) && <option value={value} />}
        {options.map((option, index) => (
          <option key={index} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
};

const CheckboxDrawing: FC<Drawn> = ({ props, tell, acknowledged }) => {
  const [pressed, setPressed] = useState({ value: false, event: 0 });
  return (
    <label className={names("chk", text(props.className))}>
      <input
        type="checkbox"
        checked={acknowledged() < pressed.event ? pressed.value : props.checked === true}
        disabled={props.disabled === true}
        onChange={(event) => {
          const next = event.currentTarget.checked;
          setPressed({ value: next, event: tell("onChange", next) ?? 0 });
        }}
      />{" "}
      {text(props.label)}
    </label>
  );
};

const TableDrawing: FC<Drawn> = ({ props }) => {
  const columns = (props.columns as string[] | undefined) ?? [];
  const rows = (props.rows as (string | number)[][] | undefined) ?? [];
  return (
    <table className={names("half-table", text(props.className))}>
      {text(props.caption) && <caption>{text(props.caption)}</caption>}
      {columns.length > 0 && (
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={index} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.map((one, at) => (
              <td key={at} className={typeof one === "number" ? "num" : undefined}>
                {one}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
};

const ListDrawing: FC<Drawn> = ({ props, kids }) =>
  createElement(
    props.ordered === true ? "ol" : "ul",
    { className: names("half-list", text(props.className)) },
    kids.map((kid, index) => <li key={index}>{kid}</li>),
  );

const ProgressDrawing: FC<Drawn> = ({ props }) => (
  <label className={names("half-field", text(props.className))}>
    {text(props.label)}
    <progress className="half-progress" max={1} value={typeof props.value === "number" ? props.value : undefined} />
  </label>
);

const ChartDrawing: FC<Drawn> = ({ props }) => (
  <Chart
    label={text(props.label)}
    kind={props.kind === "bar" ? "bar" : "line"}
    height={typeof props.height === "number" ? props.height : 96}
    labels={(props.labels as string[] | undefined) ?? []}
    series={(props.series as { name: string; points: number[] }[] | undefined) ?? []}
    className={text(props.className)}
  />
);

/** Leaving takes a second press, on a sheet of placet's own that shows the whole address. */
const LinkDrawing: FC<Drawn> = ({ props, children }) => {
  const [asked, setAsked] = useState<string | null>(null); // the address as it was shown, whatever the half makes of it then
  const words = useHalfWords();
  const href = text(props.href);
  return (
    <>
      <button type="button" className={names("link", text(props.className))} disabled={!href} onClick={() => setAsked(href)}>
        {children}
      </button>
      <Sheet open={asked !== null} onClose={() => setAsked(null)} title={words.leaveTitle}>
        <p>{words.leaveText}</p>
        <pre className="out">
          <VisibleText text={asked ?? ""} reading="code" />
        </pre>
        <div className="pair">
          <button type="button" className="btn" onClick={() => setAsked(null)}>
            {words.leaveNo}
          </button>
          <button
            type="button"
            className="btn ink"
            onClick={() => {
              setAsked(null);
              if (asked) window.open(asked, "_blank", "noopener,noreferrer");
            }}
          >
            {words.leaveYes}
          </button>
        </div>
      </Sheet>
    </>
  );
};

const ImageDrawing: FC<Drawn> = ({ props }) => {
  const data = text(props.data);
  const picture = useMemo(() => (data ? pictureOf(data) : null), [data]);
  if (!picture) return <span className="sub">{text(props.label)}</span>;
  return (
    <img
      className={names("half-image", text(props.className))}
      src={`data:${picture.kind};base64,${data}`}
      alt={text(props.label)}
      width={typeof props.width === "number" ? props.width : picture.width}
      height={typeof props.height === "number" ? props.height : undefined}
      decoding="async"
      draggable={false}
    />
  );
};

const shape =
  (tag: string): FC<Drawn> =>
  ({ props, children }) =>
    createElement(tag, { ...props, ...(tag === "svg" && { role: "img", "aria-label": props.label, label: undefined }) }, children);

/** How each component of a half is drawn; the names are exactly those of the spec. */
export const drawings: { readonly [name in ComponentName]: FC<Drawn> } = {
  Stack: box("stack"),
  Row: box("row"),
  Text: TextDrawing,
  Code: CodeDrawing,
  Badge: BadgeDrawing,
  Button: ButtonDrawing,
  TextField: TextFieldDrawing,
  Select: SelectDrawing,
  Checkbox: CheckboxDrawing,
  Table: TableDrawing,
  List: ListDrawing,
  Progress: ProgressDrawing,
  Chart: ChartDrawing,
  Link: LinkDrawing,
  Image: ImageDrawing,
  svg: shape("svg"),
  g: shape("g"),
  path: shape("path"),
  rect: shape("rect"),
  circle: shape("circle"),
  ellipse: shape("ellipse"),
  line: shape("line"),
  polyline: shape("polyline"),
  polygon: shape("polygon"),
  text: shape("text"),
};
