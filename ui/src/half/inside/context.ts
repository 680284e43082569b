/** The context that a half is given: events, effects and services, and a plain word for everything else. */
import type { Events } from "./services";

const closed = new Set("root parent scope fiber reflect registry events extend isolate intercept plugin set mixin".split(" "));
const timers = ["timeout", "interval", "setTimeout", "setInterval", "throttle", "debounce"];

type Undo = () => void;

/** `open` names the services that the half has declared; the others are reached by `get`. */
export const makeContext = (services: Readonly<Record<string, object>>, events: Events, declared: ReadonlySet<string>): object => {
  const own: Record<string, unknown> = {
    get: (name: string) => (Object.hasOwn(services, name) ? services[name] : undefined),
    on: (name: string, listener: (value: unknown) => void): Undo => events.on(name, listener),
    once: (name: string, listener: (value: unknown) => void): Undo => {
      const undo = events.on(name, (value) => {
        undo();
        listener(value);
      });
      return undo;
    },
    effect: (fn: () => unknown): Undo => {
      if (typeof fn !== "function") throw new TypeError("ctx.effect(fn): fn has to be a function that returns its undo.");
      const undo = fn();
      let done = false;
      return () => {
        if (!done && typeof undo === "function") (undo as Undo)();
        done = true;
      };
    },
    provide: (name: string) => {
      throw new Error(`ctx.provide(${JSON.stringify(name)}): a browser half provides no services. Provide it in the host half, or share variables between your own views.`);
    },
  };
  const here = (name: string): unknown => {
    if (Object.hasOwn(own, name)) return own[name];
    if (declared.has(name) && Object.hasOwn(services, name)) return services[name];
    if (declared.has("timer") && timers.includes(name)) return (services.timer as Record<string, unknown>)[name];
    return undefined;
  };
  return new Proxy(Object.freeze(Object.create(null) as object), {
    get: (_target, name) => {
      if (typeof name === "symbol" || name === "then") return undefined;
      const found = here(name);
      if (found !== undefined) return found;
      if (closed.has(name)) throw new Error(`ctx.${name} is not for plugins. Use ctx.on, ctx.effect, ctx.get and the services that you inject.`);
      if (timers.includes(name)) throw new Error(`ctx.${name} needs the service timer: return {inject: ["timer"], apply(ctx) {...}}, or ctx.get("timer").`);
      if (Object.hasOwn(services, name)) throw new Error(`ctx.${name} needs a declaration: return {inject: [${JSON.stringify(name)}], apply(ctx) {...}}, or ctx.get(${JSON.stringify(name)}).`);
      throw new Error(`ctx.${name}: there is no such service. There are ${Object.keys(services).join(", ")}.`);
    },
    set: (_target, name) => {
      throw new Error(`ctx.${String(name)} cannot be set: the context is not a place to keep things. Use a variable.`);
    },
    has: (_target, name) => typeof name === "string" && here(name) !== undefined,
    ownKeys: () => [],
    defineProperty: () => false,
    deleteProperty: () => false,
  });
};
