/** React's host configuration of a half: a commit becomes a list of operations, and functions stay here. */
import * as React from "react";
import Reconciler from "react-reconciler";
import { DefaultEventPriority, DiscreteEventPriority, NoEventPriority } from "react-reconciler/constants";
import type { Json } from "../../wire/shapes";
import { components, shapes, specOf } from "../spec/components";
import type { Operation, WireNode, WireProperties } from "../wire";

interface Element {
  id: number;
  type: string;
  properties: Record<string, unknown>;
  children: Node[];
  root: Root | null;
}
interface Text {
  id: number;
  text: string;
  root: Root | null;
}
type Node = Element | Text;
type Fiber = Reconciler.OpaqueRoot;
interface Root {
  id: 0;
  name: number;
  children: Node[];
  operations: Operation[];
  root: Root;
}

export interface RendererDoors {
  operations(root: number, acknowledged: number, operations: Operation[]): void;
  broken(root: number, error: unknown, where: string): void;
  trouble(error: unknown): void;
}

const refused = (type: string, why: string): never => {
  throw new Error(`${type}: ${why}`);
};

const unknownType = (type: unknown): never =>
  refused(String(type), `there is no such component. There are ${Object.keys(components).join(", ")}; the page has no HTML elements for a half.`);

/** What goes over the wire of the properties; throws where one is not what the component takes. */
const wireOf = (type: string, properties: Record<string, unknown>): WireProperties => {
  const spec = specOf(type) ?? unknownType(type);
  const wire: WireProperties = {};
  const listens: string[] = [];
  for (const name of Object.keys(properties)) {
    const value = properties[name];
    if (name === "children" || name === "key" || name === "ref" || value === undefined || value === null) continue;
    if (Object.hasOwn(spec.events, name)) {
      if (typeof value !== "function") refused(type, `${name} has to be a function.`);
      listens.push(name);
      continue;
    }
    const kind = Object.hasOwn(spec.props, name) ? spec.props[name] : undefined;
    if (!kind) return refused(type, `there is no property ${name}. There are ${[...Object.keys(spec.props), ...Object.keys(spec.events)].join(", ") || "none"}.`);
    if (kind.read(value) === undefined) refused(type, `${name} has to be ${kind.says}.`);
    wire[name] = value as Json;
  }
  if (listens.length) wire.$on = listens;
  return wire;
};

const wireNode = (node: Node): WireNode =>
  "text" in node ? { i: node.id, t: node.text } : { i: node.id, c: node.type, p: wireOf(node.type, node.properties), k: node.children.map(wireNode) };

const LATE = 100;
const wantsEvents = (element: Element): boolean => Object.keys(specOf(element.type)?.events ?? {}).length > 0;

export class Renderer {
  private readonly roots = new Map<number, { root: Root; view: React.ElementType; fiber: Fiber }>();
  private readonly elements = new Map<number, Element>();
  /** Taken away of late: what a person did to them is on its way, and their handlers still hear it. */
  private readonly late = new Map<number, Element>();
  private readonly reconciler: ReturnType<typeof Reconciler>;
  private nextId = 1;
  private priority: number = NoEventPriority;
  private acknowledged = 0;

  constructor(private readonly doors: RendererDoors) {
    this.reconciler = Reconciler(this.configuration() as never);
  }

  mount(name: number, view: React.ElementType, properties: Record<string, unknown>): void {
    let held = this.roots.get(name);
    if (!held) {
      const root = { id: 0, name, children: [], operations: [] as Operation[] } as unknown as Root;
      root.root = root;
      const failed = (error: unknown, info: { componentStack?: string | null }) => this.doors.broken(name, error, info.componentStack ?? "");
      const fiber = this.reconciler.createContainer(root, 1, null, false, null, `${name}`, failed, (error: unknown) => this.doors.trouble(error), () => undefined, () => undefined, null);
      held = { root, view, fiber };
      this.roots.set(name, held);
    }
    this.reconciler.updateContainer(React.createElement(view, properties), held.fiber, null, null);
  }

  /** Draws a mounted view again with other properties. */
  update(name: number, properties: Record<string, unknown>): void {
    const held = this.roots.get(name);
    if (held) this.mount(name, held.view, properties);
  }

  unmount(name: number): void {
    const held = this.roots.get(name);
    if (!held) return;
    this.roots.delete(name);
    this.reconciler.updateContainer(null, held.fiber, null, null);
  }

  /** Runs the handler of one event at once, so that what it changes is on its way before anything else. */
  event(sequence: number, node: number, name: string, args: Json[]): void {
    this.acknowledged = Math.max(this.acknowledged, sequence);
    const element = this.elements.get(node) ?? this.late.get(node);
    const handler = element?.properties[name];
    this.priority = DiscreteEventPriority;
    try {
      if (typeof handler === "function") {
        const answer: unknown = handler(...args);
        if (answer instanceof Promise) answer.catch((error: unknown) => this.doors.trouble(error));
      }
    } catch (error) {
      this.doors.trouble(error);
    } finally {
      this.priority = NoEventPriority;
    }
    this.reconciler.flushSyncWork();
    // A field waits for word that its change was seen, also where nothing came of it.
    if (element?.root) this.doors.operations(element.root.name, this.acknowledged, []);
  }

  private adopt(node: Node, root: Root): void {
    node.root = root;
    if ("children" in node) for (const child of node.children) this.adopt(child, root);
  }

  private put(parent: Element | Root, child: Node, before: Node | null): void {
    const list = parent.children;
    const old = list.indexOf(child);
    if (old >= 0) list.splice(old, 1);
    const at = before ? list.indexOf(before) : list.length;
    list.splice(at, 0, child);
    const root = parent.root;
    if (!root) return;
    if (old >= 0) root.operations.push(["m", parent.id, at, child.id]);
    else {
      this.adopt(child, root);
      root.operations.push(["a", parent.id, at, wireNode(child)]);
    }
  }

  private drop(node: Node): void {
    if (!("children" in node)) return;
    if (this.elements.delete(node.id) && wantsEvents(node)) {
      this.late.set(node.id, node);
      if (this.late.size > LATE) this.late.delete(this.late.keys().next().value!);
    }
    for (const child of node.children) this.drop(child);
  }

  private take(parent: Element | Root, child: Node): void {
    parent.children.splice(parent.children.indexOf(child), 1);
    parent.root?.operations.push(["d", parent.id, child.id]);
    this.drop(child);
  }

  private configuration() {
    const put = (parent: Element | Root, child: Node) => this.put(parent, child, null);
    const before = (parent: Element | Root, child: Node, next: Node) => this.put(parent, child, next);
    const take = (parent: Element | Root, child: Node) => this.take(parent, child);
    const nothing = () => undefined;
    const setText = (node: Text, text: string) => node.root?.operations.push(["t", node.id, text]);
    return {
      rendererPackageName: "placet-half",
      rendererVersion: React.version,
      extraDevToolsConfig: null,
      supportsMutation: true,
      supportsPersistence: false,
      supportsHydration: false,
      isPrimaryRenderer: true,
      noTimeout: -1,
      warnsIfNotActing: false,
      scheduleTimeout: setTimeout,
      cancelTimeout: clearTimeout,
      supportsMicrotasks: true,
      scheduleMicrotask: queueMicrotask,

      getRootHostContext: () => "page",
      getChildHostContext: (context: string, type: string) => (type === "svg" ? "svg" : specOf(type)?.kids === "text" ? `text of ${type}` : specOf(type)?.kids === "none" ? `inside of ${type}` : context),
      getPublicInstance: () => null,
      createInstance: (type: string, properties: Record<string, unknown>, _root: Root, context: string): Element => {
        if (context.startsWith("text of")) refused(type, `it stands in ${context.slice(8)}, which takes only text.`);
        if (context.startsWith("inside of")) refused(type, `it stands in ${context.slice(10)}, which has no children.`);
        if (shapes.has(type) !== (context === "svg")) refused(type, context === "svg" ? "only shapes stand in an svg." : "it has to stand in an svg.");
        wireOf(type, properties);
        const element: Element = { id: this.nextId++, type, properties, children: [], root: null };
        this.elements.set(element.id, element);
        return element;
      },
      createTextInstance: (text: string, _root: Root, context: string): Text => {
        if (context === "svg") refused("text", "words in an svg stand in a text component.");
        if (context.startsWith("inside of")) refused(context.slice(10), "it has no children.");
        return { id: this.nextId++, text, root: null };
      },
      appendInitialChild: (parent: Element, child: Node) => void parent.children.push(child),
      finalizeInitialChildren: () => false,
      shouldSetTextContent: () => false,
      prepareForCommit: () => null,
      resetAfterCommit: (root: Root) => {
        const operations = root.operations;
        root.operations = [];
        if (operations.length) this.doors.operations(root.name, this.acknowledged, operations);
      },
      appendChild: put,
      appendChildToContainer: put,
      insertBefore: before,
      insertInContainerBefore: before,
      removeChild: take,
      removeChildFromContainer: take,
      clearContainer: (root: Root) => {
        for (const child of [...root.children]) take(root, child);
      },
      commitUpdate: (element: Element, type: string, old: Record<string, unknown>, properties: Record<string, unknown>) => {
        element.properties = properties;
        const now = wireOf(type, properties);
        if (JSON.stringify(wireOf(type, old)) !== JSON.stringify(now)) element.root?.operations.push(["u", element.id, now]);
      },
      commitTextUpdate: (node: Text, _old: string, text: string) => {
        node.text = text;
        setText(node, text);
      },
      commitMount: nothing,
      resetTextContent: nothing,
      hideInstance: (element: Element) => void element.root?.operations.push(["h", element.id, 1]),
      unhideInstance: (element: Element) => void element.root?.operations.push(["h", element.id, 0]),
      hideTextInstance: (node: Text) => void setText(node, ""),
      unhideTextInstance: (node: Text, text: string) => void setText(node, text),

      setCurrentUpdatePriority: (priority: number) => {
        this.priority = priority;
      },
      getCurrentUpdatePriority: () => this.priority,
      resolveUpdatePriority: () => this.priority || DefaultEventPriority,
      resolveEventType: () => null,
      resolveEventTimeStamp: () => -1.1,
      trackSchedulerEvent: nothing,
      shouldAttemptEagerTransition: () => false,
      NotPendingTransition: null,
      HostTransitionContext: React.createContext(null),
      resetFormInstance: nothing,
      requestPostPaintCallback: nothing,
      maySuspendCommit: () => false,
      maySuspendCommitOnUpdate: () => false,
      maySuspendCommitInSyncRender: () => false,
      preloadInstance: () => true,
      startSuspendingCommit: () => null,
      suspendInstance: nothing,
      waitForCommitToBeReady: () => null,
      getSuspendedCommitReason: () => null,
      preparePortalMount: nothing,
      detachDeletedInstance: nothing,
      getInstanceFromNode: () => null,
      getInstanceFromScope: () => null,
      beforeActiveInstanceBlur: nothing,
      afterActiveInstanceBlur: nothing,
      prepareScopeUpdate: nothing,
      bindToConsole: (method: "error", args: unknown[]) => console[method].bind(console, ...args),
    };
  }
}
