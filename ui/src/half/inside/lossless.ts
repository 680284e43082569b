import type { Json } from "../../wire/shapes";

/** The value as JSON that loses nothing; throws with the place and the rule where it would. */
export const lossless = (value: unknown, at: string, depth = 0): Json => {
  const refuse = (why: string): never => {
    throw new TypeError(`${at} ${why}. Only plain JSON travels: null, true, false, finite numbers, strings, lists and plain objects.`);
  };
  if (depth > 64) return refuse("is nested deeper than 64 levels or holds itself");
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return !Number.isFinite(value) || Object.is(value, -0) ? refuse(`is ${Object.is(value, -0) ? "-0" : value}`) : value;
  if (Array.isArray(value)) return Array.from(value, (one: unknown, index) => lossless(one, `${at}[${index}]`, depth + 1));
  if (typeof value !== "object") return refuse(`is ${value === undefined ? "undefined" : `a ${typeof value}`}`);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return refuse(`is no plain object (${(value.constructor as { name?: string } | undefined)?.name ?? "unknown"})`);
  if (Reflect.ownKeys(value).some((key) => typeof key === "symbol")) return refuse("has a symbol as a name");
  const made: Record<string, Json> = {};
  for (const [name, one] of Object.entries(value)) {
    if (name === "__proto__") return refuse("has the name __proto__");
    made[name] = lossless(one, `${at}.${name}`, depth + 1);
  }
  return made;
};
