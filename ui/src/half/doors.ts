import type { Json } from "../wire/shapes";

/** The one run of a plugin whose browser half is to be loaded. */
export interface HalfRun {
  plugin: string;
  package: string;
  run: string;
  /** What the plugin is called, for the line above everything that it draws. */
  name: string;
  session: string;
}

/** What a half may know of its own session; nothing of any other. */
export interface SessionFacts {
  id: string;
  title: string;
  status: "idle" | "running" | "waiting" | "interrupted";
  turn: number | null;
}

export interface Verdict {
  run: string;
  ok: boolean;
  phase?: "client-load" | "client-apply";
  message?: string;
  stack?: string;
  waitingFor?: string[];
}

export interface Failure {
  run: string;
  phase: "client-load" | "client-apply" | "client-render";
  slot?: string;
  message: string;
  stack?: string;
}

/** Why a call of a half to its host half came to nothing. */
export class InvokeRefused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Everything that halves need of the rest of the page. Each answer is about one exact run. */
export interface HalfDoors {
  /** The source of the half of the active run; throws where it is refused. */
  source(plugin: string, run: string): Promise<string>;
  /** Tells the server whether the half came up; false where another verdict counted or the run is not active. */
  verdict(plugin: string, verdict: Verdict): Promise<boolean>;
  /** Tells of something that broke after the half had come up. */
  failure(plugin: string, failure: Failure): Promise<void>;
  /** Calls a method of the host half. Throws InvokeRefused. */
  invoke(plugin: string, run: string, method: string, args: Json): Promise<Json>;
  /** Whether this is the active run, by all that the page knows now. */
  active(plugin: string, run: string): boolean;
  sessionState(session: string): SessionFacts | null;
  /** Calls back whenever something changed that `sessionState` tells of. */
  watch(listener: () => void): () => void;
}
