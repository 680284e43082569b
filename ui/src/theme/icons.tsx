import type { ReactNode } from "react";

/** Every drawing of the page, on a grid of 16; strokes take the colour of their text. */
const shapes = {
  alert: <path d="M8 2.3 14.3 13.3H1.7zM8 6.5v3.2M8 11.5v.1" />,
  blocks: <path d="M2.5 9h4.5v4.500H2.5zM9 9h4.500v4.500H9zM5.750 2.500h4.500V7h-4.500z" />,
  check: <path d="m3 8.5 3.2 3.2L13 4.8" />,
  cross: <path d="m3.5 3.5 9 9m0-9-9 9" />,
  denied: <><path d="M8 1.8 13 3.6v4c0 3.2-2.2 5.6-5 6.6-2.8-1-5-3.4-5-6.6v-4z" /><path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" /></>,
  down: <path d="M3.5 6 8 10.5 12.5 6" />,
  down2: <path d="M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10" />,
  eye: <><path d="M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8z" /><circle cx="8" cy="8" r="1.9" /></>,
  file: <path d="M4 1.8h5l3 3v9.4H4zM9 1.8v3h3" />,
  gear: <><circle cx="8" cy="8" r="2.2" /><path d="M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4" /></>,
  inbox: <path d="M2 9.5 4 3h8l2 6.5v3.5H2zM2 9.5h3.5l1 1.7h3l1-1.7H14" />,
  keyboard: <path d="M1.5 4h13v8h-13zM4.2 6.7h.1M6.7 6.7h.1M9.2 6.7h.1M11.7 6.7h.1M5 9.5h6" />,
  key: <><circle cx="5.2" cy="10.8" r="2.9" /><path d="m7.3 8.7 6-6M10.8 5.2l2 2" /></>,
  list: <path d="M5.5 4H14M5.5 8H14M5.5 12H14M2 4h.1M2 8h.1M2 12h.1" />,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  more: <path d="M3.5 8h.1M8 8h.1M12.5 8h.1" strokeWidth="2.4" />,
  next: <path d="M6 3.5 10.5 8 6 12.5" />,
  off: <path d="M2 2l12 12M5.2 9.3a4 4 0 0 1 2.3-1.2M3 6.8a7.3 7.3 0 0 1 2-1.3M10.9 9.3l-.5-.4M13 6.8a7.3 7.3 0 0 0-5.8-2M8 12.3v.1" />,
  pen: <path d="m3.2 11.3.7-2.9 6.6-6.5a1.35 1.35 0 0 1 1.9 0l.5.5a1.35 1.35 0 0 1 0 1.9L6.3 10.7zM9.3 3.1l2.4 2.4M2.5 14h11" />,
  play: <path d="M5 3.3v9.4l7.5-4.7z" />,
  plug: <path d="M6 2v3.5M10 2v3.5M4.5 5.5h7v2a3.5 3.5 0 0 1-7 0zM8 11v3" />,
  plus: <path d="M8 3v10M3 8h10" />,
  prev: <path d="M10 3.5 5.5 8l4.5 4.5" />,
  repeat: <path d="M3 7.5A5 5 0 0 1 12.5 6M13 3v3h-3M13 8.5A5 5 0 0 1 3.5 10M3 13v-3h3" />,
  screens: <><rect x="1.5" y="3" width="9" height="7" rx="1" /><rect x="9.5" y="6.5" width="5" height="7.5" rx="1" fill="var(--sheet)" /></>,
  send: <path d="M8 13V3.5M4 7.2 8 3.2l4 4" />,
  shield: <path d="M8 1.8 13 3.6v4c0 3.2-2.2 5.6-5 6.6-2.8-1-5-3.4-5-6.6v-4z" />,
  slash: <><circle cx="8" cy="8" r="5.75" /><path d="m4 12 8-8" /></>,
  start: <><circle cx="8" cy="8" r="5.75" strokeDasharray="3 2.2" /><path d="M8 5v3" /></>,
  stop: <rect x="4" y="4" width="8" height="8" rx="1" />,
  tool: <path d="M3 4.5 6 7.5 3 10.5M7.5 11.5h5.5" />,
  undo: <path d="M3 6.5h7a3.5 3.5 0 0 1 0 7H6M5.5 3.5l-3 3 3 3" />,
  unknown: <><circle cx="8" cy="8" r="5.75" strokeDasharray="2.4 2.1" /><path d="M6.3 6.3c.3-1.3 3.4-1.3 3.4.3 0 1.2-1.7 1.2-1.7 2.5M8 11.3v.1" /></>,
  wait: <><circle cx="8" cy="8" r="5.75" /><path d="M8 4.8V8l2.2 1.4" /></>,
  window: <><rect x="2" y="3" width="12" height="10" rx="1.5" /><path d="M2 6h12M8 8.2v3m-1.5-1.4L8 11.3l1.5-1.5" /></>,
  work: <path d="M13.75 8A5.75 5.75 0 1 1 8 2.25" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof shapes;

export const Icon = ({ name, className = "" }: { name: IconName; className?: string }) => (
  <svg className={`i ${className}`} aria-hidden="true" viewBox="0 0 16 16">
    {shapes[name]}
  </svg>
);

export const Wordmark = () => (
  <svg className="wordmark" viewBox="0 0 146 50" role="img" aria-label="placet">
    <path className="wm-line" d="M1 40.5H145" />
    <path d="M8 48V11M8 21.5a10.5 10.5 0 1 1 21 0a10.5 10.5 0 1 1-21 0M38 2V32M47 21.5a10.5 10.5 0 1 1 21 0a10.5 10.5 0 1 1-21 0M68 11V32M95.2 14.4A10.5 10.5 0 1 0 95.2 28.6M102 21.5H123A10.5 10.5 0 1 0 119.6 29.2M134 3.5V26.5A5.5 5.5 0 0 0 139.5 32H142M128.5 11.5H141.5" />
  </svg>
);

/** A state is always told by colour, icon and word together. */
export type Hue = "wait" | "allow" | "refuse" | "work" | "rest" | "agent" | "petrol";

export const Status = ({ hue, icon, tag = false, spin = false, children }: { hue: Hue; icon: IconName; tag?: boolean; spin?: boolean; children: ReactNode }) => (
  <span className={`st c-${hue}${tag ? " tag" : ""}`}>
    <Icon name={icon} className={spin ? "spin" : ""} />
    {children}
  </span>
);
