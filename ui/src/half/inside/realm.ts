/** Makes the worker's realm small: everything that is not the language itself is taken away before plugin code runs. */

/**
 * The language, and a few pure tools; nothing of these reaches out of the worker. Buffers are not among them: their memory
 * has no bound that a page could set.
 */
const kept = new Set(
  (
    "Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError " +
    "SuppressedError JSON Math Intl " +
    "Map BigInt Set Iterator WeakMap WeakSet WeakRef FinalizationRegistry Proxy Reflect DisposableStack AsyncDisposableStack decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape isFinite isNaN globalThis " +
    "URL URLSearchParams atob btoa"
  ).split(" "),
);

/** Deletes every other name, up the prototype chain of the global object. Returns the names that could not be deleted. */
export const shrink = (scope: object): string[] => {
  const stuck: string[] = [];
  for (let at: object | null = scope; at && at !== Object.prototype; at = Object.getPrototypeOf(at) as object | null) {
    for (const name of Reflect.ownKeys(at)) {
      if (typeof name === "string" && kept.has(name)) continue;
      if (!Reflect.deleteProperty(at, name)) stuck.push(String(name));
    }
  }
  return stuck;
};

/** Names that a half may look for, each with the way to what it wants. */
const ways: Record<string, string> = {
  fetch: "A browser half has no network. Let the host half fetch, and call it: host.call(\"method\", args).",
  XMLHttpRequest: "A browser half has no network. Let the host half fetch, and call it: host.call(\"method\", args).",
  WebSocket: "A browser half has no network. Let the host half listen, and ask it: host.call(\"method\", args).",
  setTimeout: "Use the service timer: inject [\"timer\"], then ctx.timer.timeout(fn, ms).",
  setInterval: "Use the service timer: inject [\"timer\"], then ctx.timer.interval(fn, ms).",
  setImmediate: "Use the service timer: inject [\"timer\"], then ctx.timer.timeout(fn, 0).",
  clearTimeout: "Call the function that ctx.timer.timeout gave you.",
  clearInterval: "Call the function that ctx.timer.interval gave you.",
  requestAnimationFrame: "Use the service timer: ctx.timer.interval(fn, 16).",
  require: "There are no modules. React, console, styles, host and ctx are all there is; components are names: React.createElement(\"Button\").",
  importScripts: "There are no modules. React, console, styles, host and ctx are all there is.",
};

const deadEnd = (name: string, way: string): unknown => {
  const say = (): never => {
    throw new Error(`${name} is not here. ${way}`);
  };
  return new Proxy(say, { apply: say, construct: say });
};

/** `harness` is the host half's; whatever is asked of it here says so. */
const harness = new Proxy(
  {},
  {
    get: (_target, name) => {
      if (typeof name === "symbol") return undefined;
      throw new Error(`harness.${name}: harness belongs to the host half. In the browser half use ctx, host.call and slots.`);
    },
    set: () => {
      throw new Error("harness belongs to the host half.");
    },
  },
);

/** The names that stand in front of a half's source beside its own five, with what they hold. */
export const shadows = (): [name: string, value: unknown][] => [
  ...Object.entries(ways).map(([name, way]): [string, unknown] => [name, deadEnd(name, way)]),
  ["harness", harness],
  ["process", undefined],
  ["Buffer", undefined],
];
