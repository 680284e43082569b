/** The page's copy of what one view of a half draws. Every operation is taken for a forgery until it has been looked at. */
import { shapes, specOf } from "../spec/components";

/** An operation that the runtime would never send: the half is not what it says, and ends. */
export class Forged extends Error {}

export const limits = { nodes: 3_000, depth: 40, text: 20_000, allText: 400_000, operations: 20_000 } as const;

export interface TreeNode {
  readonly id: number;
  /** Component, or null for a text and for the root. */
  readonly type: string | null;
  readonly depth: number;
  text: string | null;
  props: Readonly<Record<string, unknown>>;
  listens: ReadonlySet<string>;
  kids: readonly number[];
  hidden: boolean;
  version: number;
}

const none: Readonly<Record<string, unknown>> = Object.freeze(Object.create(null) as Record<string, unknown>);
const silent: ReadonlySet<string> = new Set();

const forged = (why: string): never => {
  throw new Forged(why);
};
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const own = (value: Record<string, unknown>, name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined);
const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

export class Tree {
  private readonly nodes = new Map<number, TreeNode>([[0, { id: 0, type: null, depth: 0, text: null, props: none, listens: silent, kids: [], hidden: false, version: 0 }]]);
  private readonly parents = new Map<number, number>();
  private readonly listeners = new Map<number, Set<() => void>>();
  private texts = 0;
  /** Number of the last event that the half had seen when it drew this. */
  acknowledged = 0;

  get(id: number): TreeNode | undefined {
    return this.nodes.get(id);
  }
  get size(): number {
    return this.nodes.size;
  }
  get empty(): boolean {
    return this.nodes.get(0)!.kids.length === 0;
  }

  subscribe(id: number, listener: () => void): () => void {
    const here = this.listeners.get(id) ?? new Set();
    this.listeners.set(id, here.add(listener));
    return () => {
      here.delete(listener);
      if (here.size === 0 && this.listeners.get(id) === here) this.listeners.delete(id);
    };
  }

  /** Applies the operations in order. Throws Forged at the first that is not one. */
  apply(operations: unknown, acknowledged: unknown): void {
    if (!Array.isArray(operations) || operations.length > limits.operations) return forged("no list of operations");
    const dirty = new Set<number>();
    try {
      for (const one of operations) this.one(one, dirty);
      if (Number.isSafeInteger(acknowledged) && (acknowledged as number) > this.acknowledged) {
        this.acknowledged = acknowledged as number;
        for (const [id] of this.listeners) if (this.nodes.get(id)?.listens.has("onChange")) dirty.add(id);
      }
    } finally {
      for (const id of dirty) {
        const node = this.nodes.get(id);
        if (node) node.version += 1;
        for (const listener of this.listeners.get(id) ?? []) listener();
      }
    }
  }

  private one(operation: unknown, dirty: Set<number>): void {
    if (!Array.isArray(operation)) return forged("an operation that is no list");
    const [kind, at] = operation as unknown[];
    const node = typeof at === "number" ? this.nodes.get(at) : undefined;
    if (!node) return forged("an operation on a node that is not there");
    dirty.add(node.id);
    switch (kind) {
      case "a":
        return this.add(node, operation[2], operation[3]);
      case "m":
        return this.move(node, operation[2], operation[3]);
      case "d":
        return this.remove(node, operation[2]);
      case "u":
        return node.type === null ? forged("properties for a text") : this.set(node, operation[2]);
      case "t":
        return node.text === null ? forged("a text for a component") : this.write(node, operation[2]);
      case "h":
        if (node.id === 0) return forged("the root hidden");
        node.hidden = operation[2] === 1;
        return;
      default:
        return forged("an operation of no kind");
    }
  }

  private place(parent: TreeNode, index: unknown, without: readonly number[]): number {
    if (parent.text !== null) return forged("a child of a text");
    return Number.isSafeInteger(index) && (index as number) >= 0 && (index as number) <= without.length ? (index as number) : forged("a place that is not there");
  }

  private add(parent: TreeNode, index: unknown, wire: unknown): void {
    const at = this.place(parent, index, parent.kids);
    const id = this.build(wire, parent);
    parent.kids = [...parent.kids.slice(0, at), id, ...parent.kids.slice(at)];
  }

  /** Only within the same parent, so that no cycle can come to be. */
  private move(parent: TreeNode, index: unknown, id: unknown): void {
    if (typeof id !== "number" || this.parents.get(id) !== parent.id) return forged("a move of another's child");
    const rest = parent.kids.filter((kid) => kid !== id);
    const at = this.place(parent, index, rest);
    parent.kids = [...rest.slice(0, at), id, ...rest.slice(at)];
  }

  private remove(parent: TreeNode, id: unknown): void {
    if (typeof id !== "number" || this.parents.get(id) !== parent.id) return forged("another's child taken away");
    parent.kids = parent.kids.filter((kid) => kid !== id);
    const going = [id];
    for (let next = going.pop(); next !== undefined; next = going.pop()) {
      const node = this.nodes.get(next)!;
      going.push(...node.kids);
      this.texts -= node.text?.length ?? 0;
      this.nodes.delete(next);
      this.parents.delete(next);
    }
  }

  private build(wire: unknown, parent: TreeNode): number {
    if (!isRecord(wire)) return forged("a node that is no object");
    const id = own(wire, "i");
    if (!isId(id) || this.nodes.has(id)) return forged("a node with a wrong or used number");
    if (this.nodes.size > limits.nodes) return forged(`more than ${limits.nodes} nodes in one view`);
    const depth = parent.depth + 1;
    if (depth > limits.depth) return forged(`nodes deeper than ${limits.depth}`);
    const text = own(wire, "t");
    const inside = parent.type === null ? null : specOf(parent.type);
    if (inside?.kids === "none") return forged("a child where none may be");
    if (text !== undefined) {
      const leaf: TreeNode = { id, type: null, depth, text: "", props: none, listens: silent, kids: [], hidden: false, version: 0 };
      this.keep(leaf, parent);
      this.write(leaf, text);
      return id;
    }
    const type = own(wire, "c");
    const kids = own(wire, "k");
    if (typeof type !== "string" || !specOf(type)) return forged("a component that there is not");
    if (inside?.kids === "text") return forged("a component where only text may be");
    if (shapes.has(type) !== (parent.type === "svg" || parent.type === "g")) return forged("a shape outside of an svg, or something else inside");
    if (!Array.isArray(kids)) return forged("a node without children");
    const node: TreeNode = { id, type, depth, text: null, props: none, listens: silent, kids: [], hidden: false, version: 0 };
    this.keep(node, parent);
    this.set(node, own(wire, "p"));
    const made: number[] = [];
    for (const kid of kids) made.push(this.build(kid, node));
    node.kids = made;
    return id;
  }

  private keep(node: TreeNode, parent: TreeNode): void {
    this.nodes.set(node.id, node);
    this.parents.set(node.id, parent.id);
  }

  /** Takes over what the component's kinds allow; a value that they refuse is left out. */
  private set(node: TreeNode, wire: unknown): void {
    if (!isRecord(wire)) return forged("properties that are no object");
    const spec = specOf(node.type)!;
    const props = Object.create(null) as Record<string, unknown>;
    for (const name of Object.keys(spec.props)) {
      const value = Object.hasOwn(wire, name) ? spec.props[name]!.read(wire[name]) : undefined;
      if (value !== undefined) props[name] = value;
    }
    const listens = own(wire, "$on");
    node.props = props;
    node.listens = new Set(Array.isArray(listens) ? listens.filter((name): name is string => typeof name === "string" && Object.hasOwn(spec.events, name)) : []);
  }

  private write(node: TreeNode, text: unknown): void {
    if (typeof text !== "string") return forged("a text that is none");
    if (text.length > limits.text) return forged(`a text longer than ${limits.text}`);
    this.texts += text.length - (node.text?.length ?? 0);
    if (this.texts > limits.allText) return forged(`more than ${limits.allText} characters in one view`);
    node.text = text;
  }
}
