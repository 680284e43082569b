import type { Json } from "../wire/shapes";

/** Bounds on what crosses from a half to the page, in characters, messages and milliseconds. */
export const bounds = {
  /** One message of the worker, one JSON text. */
  message: 256 * 1024,
  /** What the guard holds for a page that has not taken the last batch yet. */
  held: 2 * 1024 * 1024,
  heldMessages: 2_000,
  /** Messages of the worker within one look of the guard. */
  rate: 150,
  /** Between two looks of the guard, and how many of them a half may miss. */
  look: 150,
  missed: 4,
  /** Between two batches in the long run, and how many may go at once after a rest: a view is drawn in three. */
  batch: 16,
  ahead: 3,
  source: 512 * 1024,
} as const;

/** One change of a mirrored tree: add a node, move one, delete one, set properties, set a text, hide or show. */
export type Operation =
  | ["a", parent: number, index: number, node: WireNode]
  | ["m", parent: number, index: number, node: number]
  | ["d", parent: number, node: number]
  | ["u", node: number, properties: WireProperties]
  | ["t", node: number, text: string]
  | ["h", node: number, hidden: 0 | 1];

export interface WireProperties {
  [name: string]: Json;
}

/** A node as it is made: a text, or a component with its properties (`$on` names the events it listens to) and children. */
export type WireNode = { i: number; t: string } | { i: number; c: string; p: WireProperties; k: WireNode[] };

/** What a half says. The page believes none of it. */
export type Said =
  | ["ready"]
  | ["applied", waitingFor: string[]]
  | ["failed", phase: string, message: string, stack: string]
  | ["broken", root: number, message: string, stack: string]
  | ["trouble", message: string, stack: string]
  | ["ops", root: number, acknowledged: number, operations: Operation[]]
  | ["register", view: number, slot: string, key: string, priority: number, height: number]
  | ["unregister", view: number]
  | ["ask", id: number, service: string, method: string, args: Json]
  | ["log", level: string, text: string];

/** What the page says to a half. */
export type Told =
  | ["start", { source: string; plugin: string; package: string; run: string; name: string; session: Json; locale: string; theme: string }]
  | ["mount", root: number, view: number, properties: Json]
  | ["properties", root: number, properties: Json]
  | ["unmount", root: number]
  | ["event", sequence: number, root: number, node: number, name: string, args: Json[]]
  | ["answer", id: number, ok: boolean, value: Json]
  | ["fact", name: string, value: Json];

/** What the guard says to the page: its own words in a frame that the worker cannot write. */
export type GuardSaid = { kind: "batch"; items: string[] } | { kind: "cut"; why: string } | { kind: "beat"; token: number; busy: number };
export type GuardTold = { kind: "tell"; text: string } | { kind: "taken" } | { kind: "beat"; token: number };
