import { unescape } from "../text/escaped";
import type { Json } from "../wire/shapes";

type Data = { [name: string]: Json };
const object = (value: Json | undefined): Data | null => (value !== null && typeof value === "object" && !Array.isArray(value) ? value : null);

export interface Captured {
  text: string;
  truncated: boolean;
  droppedBytes: number;
}

export interface BashResult {
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  aborted: boolean;
  timeoutMs: number;
  stdout: Captured;
  stderr: Captured;
  sandbox: { mode: string; denied: boolean; path: string | null; enforcement: string | null; backend: string | null } | null;
  durationMs: number | null;
}

const captured = (value: Json | undefined): Captured => {
  const one = object(value) ?? {};
  return {
    text: typeof one.text === "string" ? one.text : "",
    truncated: one.truncated === true,
    droppedBytes: Number(one.droppedBytes ?? one.dropped_bytes ?? 0) || 0,
  };
};

/** What a result value says about the sandbox, whichever tool it is of. */
export const sandboxOf = (value: Json): BashResult["sandbox"] => {
  const box = object(object(value)?.sandbox);
  return (
    box && {
      mode: String(box.mode ?? ""),
      denied: box.denied === true,
      path: typeof box.path === "string" ? box.path : null,
      enforcement: typeof box.enforcement === "string" ? box.enforcement : null,
      backend: typeof box.backend === "string" ? box.backend : null,
    }
  );
};

/** The result value of `bash` in the foreground, or null for anything else. */
export const bashResult = (value: Json): BashResult | null => {
  const one = object(value);
  if (!one || one.kind !== "foreground") return null;
  return {
    exitCode: typeof one.exitCode === "number" ? one.exitCode : null,
    signal: typeof one.signal === "string" ? one.signal : null,
    timedOut: one.timedOut === true,
    aborted: one.aborted === true,
    timeoutMs: Number(one.timeoutMs) || 0,
    stdout: captured(one.stdout),
    stderr: captured(one.stderr),
    sandbox: sandboxOf(value),
    durationMs: typeof one.durationMs === "number" ? one.durationMs : null,
  };
};

/** What a result says beside what the card shows of the call: the one change of an edit stands there already, as a difference. */
export const beside = (result: { text: string; isError: boolean; value: Json }, changes: "once" | "often" | null): string => {
  const diff = object(result.value)?.diff;
  if (result.isError || changes !== "once" || typeof diff !== "string" || !diff || !result.text.endsWith(`\n${diff}`)) return result.text;
  return result.text.slice(0, -diff.length - 1);
};

export interface AppearedThings {
  things: { path: string; kind: string; why: string }[];
  more: number;
  partly: boolean;
}

/** What the result's meta says of files that other programs will run. */
export const appearedOf = (meta: Data): AppearedThings => ({
  things: (Array.isArray(meta.appeared) ? meta.appeared : []).flatMap((value) => {
    const one = object(value);
    return one && typeof one.path === "string" ? [{ path: one.path, kind: String(one.kind ?? ""), why: String(one.why ?? "") }] : [];
  }),
  more: Number(meta.appearedMore ?? 0) || 0,
  partly: meta.appearedPartly === true,
});

export interface CallArguments {
  /** The command of a shell call, else null. */
  command: string | null;
  /** The model's own line about the call. */
  description: string | null;
  justification: string | null;
  /** Everything else in the call, as names and values; nothing of the call is left out. */
  rest: [name: string, value: string][];
  /** The text as the model sent it, for calls that placet cannot read as an object. */
  raw: string;
  readable: boolean;
}

const shown = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Reads a call's argument text (escaped form) for showing; what cannot be read is shown as it came. */
export const callArguments = (tool: string, escaped: string): CallArguments => {
  let raw = escaped;
  try {
    raw = unescape(escaped);
    const parsed = object(JSON.parse(raw) as Json);
    if (parsed) {
      const shell = tool === "bash" && typeof parsed.command === "string";
      const used = new Set(shell ? ["command", "description", "justification"] : []);
      const own = (name: string) => (shell && typeof parsed[name] === "string" ? (parsed[name] as string) : null);
      return {
        command: own("command"),
        description: own("description"),
        justification: own("justification"),
        rest: Object.entries(parsed)
          .filter(([name, value]) => !(used.has(name) && typeof value === "string"))
          .map(([name, value]) => [name, shown(value)]),
        raw,
        readable: true,
      };
    }
  } catch {
    /* not an object in JSON: shown raw */
  }
  return { command: null, description: null, justification: null, rest: [], raw, readable: false };
};
