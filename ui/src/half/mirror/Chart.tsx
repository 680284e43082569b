interface ChartProps {
  label: string;
  kind: "line" | "bar";
  height: number;
  labels: readonly string[];
  series: readonly { name: string; points: readonly number[] }[];
  className: string;
}

const WIDTH = 320;
const BELOW = 16;
const hues = ["petrol", "agent", "work", "wait", "allow", "rest"];

const short = (value: number): string => value.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 });

/** A small chart, drawn from numbers; its numbers can be read as a table by who does not see it. */
export const Chart = ({ label, kind, height, labels, series, className }: ChartProps) => {
  const all = series.flatMap((one) => one.points);
  const most = Math.max(0, ...all);
  const least = Math.min(0, ...all);
  const span = most - least || 1;
  const count = Math.max(1, ...series.map((one) => one.points.length));
  const inner = height - BELOW;
  const y = (value: number) => Math.round((1 - (value - least) / span) * (inner - 8) * 10) / 10 + 4;
  const x = (index: number) => (count === 1 ? WIDTH / 2 : (index / (count - 1)) * (WIDTH - 8) + 4);
  const slot = WIDTH / count;
  const bar = Math.max(1, (slot * 0.8) / Math.max(1, series.length));
  return (
    <figure className={`half-chart ${className}`}>
      {label && <figcaption className="sub">{label}</figcaption>}
      <svg viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={label || undefined} preserveAspectRatio="none" style={{ height }}>
        <line className="half-axis" x1={0} x2={WIDTH} y1={y(0)} y2={y(0)} />
        {series.map((one, number) =>
          kind === "line" ? (
            <polyline key={number} className={`half-line c-${hues[number]}`} points={one.points.map((point, index) => `${x(index)},${y(point)}`).join(" ")} />
          ) : (
            <g key={number} className={`half-bar c-${hues[number]}`}>
              {one.points.map((point, index) => (
                <rect key={index} x={index * slot + slot * 0.1 + number * bar} width={bar} y={Math.min(y(point), y(0))} height={Math.max(1, Math.abs(y(point) - y(0)))} />
              ))}
            </g>
          ),
        )}
      </svg>
      <p className="half-scale sub num">
        <span>{labels[0] ?? ""}</span>
        <span>{`${short(least)} – ${short(most)}`}</span>
        <span>{labels.length > 1 ? labels.at(-1) : ""}</span>
      </p>
      {series.length > 1 && (
        <p className="half-legend sub">
          {series.map((one, number) => (
            <span key={number} className={`c-${hues[number]}`}>
              {one.name}
            </span>
          ))}
        </p>
      )}
    </figure>
  );
};
