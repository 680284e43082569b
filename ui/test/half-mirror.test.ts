import { describe, expect, test } from "vitest";
import { caretAfter } from "../src/half/mirror/TextField";
import { pictureOf } from "../src/half/mirror/image";
import { Forged, Tree, limits } from "../src/half/mirror/tree";
import { components } from "../src/half/spec/components";
import { address, paint, pathData, picture } from "../src/half/spec/kinds";

const text = (i: number, t = "words") => ({ i, t });
const stack = (i: number, k: unknown[] = [], p: unknown = {}) => ({ i, c: "Stack", p, k });
const grown = (...operations: unknown[]): Tree => {
  const tree = new Tree();
  tree.apply(operations, 0);
  return tree;
};
const from = (json: string): unknown => JSON.parse(json) as unknown;

test("a tree is built, moved within its parent, changed and taken down", () => {
  const tree = grown(["a", 0, 0, stack(1, [text(2), text(3)])], ["m", 1, 0, 3], ["t", 2, "other"], ["h", 1, 1]);
  expect(tree.get(1)!.kids).toEqual([3, 2]);
  expect(tree.get(2)!.text).toBe("other");
  expect(tree.get(1)!.hidden).toBe(true);
  tree.apply([["d", 0, 1]], 0);
  expect([tree.size, tree.empty]).toEqual([1, true]);
});

describe("forged operations end the half", () => {
  const forgeries: [name: string, ...operations: unknown[]][] = [
    ["no list", "a"],
    ["of no kind", ["z", 0]],
    ["on a node that is not there", ["a", 7, 0, text(1)]],
    ["with a name for a number", ["a", "__proto__", 0, text(1)]],
    ["a number used twice", ["a", 0, 0, text(1)], ["a", 0, 1, text(1)]],
    ["the same number twice in one subtree", ["a", 0, 0, stack(1, [text(2), text(2)])]],
    ["a node inside itself", ["a", 0, 0, stack(1, [stack(1)])]],
    ["number of the root", ["a", 0, 0, text(0)]],
    ["a negative number", ["a", 0, 0, text(-1)]],
    ["half a number", ["a", 0, 0, text(1.5)]],
    ["a place that is not there", ["a", 0, 1, text(1)]],
    ["a place before the first", ["a", 0, -1, text(1)]],
    ["a move that makes a cycle", ["a", 0, 0, stack(1, [stack(2)])], ["m", 2, 0, 1]],
    ["a move out of another's hands", ["a", 0, 0, stack(1, [text(2)])], ["m", 0, 0, 2]],
    ["a grandchild taken away", ["a", 0, 0, stack(1, [text(2)])], ["d", 0, 2]],
    ["the root taken away", ["d", 0, 0]],
    ["the root hidden", ["h", 0, 1]],
    ["properties of the root", ["u", 0, {}]],
    ["properties of a text", ["a", 0, 0, text(1)], ["u", 1, {}]],
    ["properties that are a list", ["a", 0, 0, stack(1, [], [])]],
    ["no properties", ["a", 0, 0, { i: 1, c: "Stack", k: [] }]],
    ["a text of a component", ["a", 0, 0, stack(1)], ["t", 1, "x"]],
    ["a text that is a number", ["a", 0, 0, text(1, 5 as unknown as string)]],
    ["a child of a text", ["a", 0, 0, text(1)], ["a", 1, 0, text(2)]],
    ["a child of a button's field", ["a", 0, 0, { i: 1, c: "TextField", p: {}, k: [text(2)] }]],
    ["an HTML element", ["a", 0, 0, { i: 1, c: "iframe", p: {}, k: [] }]],
    ["an element of an object's own names", ["a", 0, 0, { i: 1, c: "constructor", p: {}, k: [] }]],
    ["the prototype as a component", ["a", 0, 0, { i: 1, c: "__proto__", p: {}, k: [] }]],
    ["a component only through the prototype", ["a", 0, 0, from('{"i":1,"__proto__":{"c":"Stack","p":{},"k":[]}}')]],
    ["a shape outside of an svg", ["a", 0, 0, { i: 1, c: "path", p: {}, k: [] }]],
    ["a button in an svg", ["a", 0, 0, { i: 1, c: "svg", p: {}, k: [{ i: 2, c: "Button", p: {}, k: [] }] }]],
    ["a component in code", ["a", 0, 0, { i: 1, c: "Code", p: {}, k: [stack(2)] }]],
    ["a text too long", ["a", 0, 0, text(1, "x".repeat(limits.text + 1))]],
    ["too much text in all", ...Array.from({ length: 21 }, (_, at) => ["a", 0, at, text(at + 1, "x".repeat(limits.text))])],
    ["too many nodes", ["a", 0, 0, stack(1, Array.from({ length: limits.nodes + 1 }, (_, at) => text(at + 2)))]],
    ["too deep", ["a", 0, 0, Array.from({ length: limits.depth + 1 }).reduce<unknown>((inner, _, at) => stack(100 - at, inner ? [inner] : []), null)]],
  ];
  test.each(forgeries)("%s", (_name, ...operations) => {
    expect(() => grown(...operations)).toThrow(Forged);
  });
});

test("a node that hides its children or repeats itself endlessly is refused before it is walked", () => {
  expect(() => new Tree().apply({ length: 1, 0: ["a", 0, 0, text(1)] }, 0)).toThrow(Forged);
  expect(() => new Tree().apply(Array.from({ length: limits.operations + 1 }, () => ["h", 0, 0]), 0)).toThrow(Forged);
});

test("properties are read by name from the list of the component, and nothing else of them is kept", () => {
  const tree = grown(["a", 0, 0, { i: 1, c: "Button", p: from('{"tone":"strong","__proto__":{"disabled":true},"constructor":1,"style":"x","dangerouslySetInnerHTML":{"__html":"x"},"$on":["onPress","onClick",7]}'), k: [] }]);
  const node = tree.get(1)!;
  expect({ ...node.props }).toEqual({ tone: "strong" });
  expect(Object.getPrototypeOf(node.props)).toBe(null);
  expect([...node.listens]).toEqual(["onPress"]);
});

test("a value of the wrong kind is left out", () => {
  const drawn = (c: string, p: object) => ({ ...grown(["a", 0, 0, { i: 1, c: "svg", p: {}, k: [{ i: 2, c, p, k: [] }] }]).get(2)!.props });
  expect(drawn("rect", { fill: "url(http://127.0.0.1:1/x)", x: 1e9, width: "5", height: 5 })).toEqual({ height: 5 });
  expect(drawn("path", { d: "M0 0 url(x)", stroke: "var(--x)", strokeWidth: Number.NaN })).toEqual({});
});

test("every component has kinds for its properties that read no object of another prototype", () => {
  for (const [name, spec] of Object.entries(components))
    for (const [prop, kind] of Object.entries(spec.props)) expect([name, prop, (kind as { read: (value: unknown) => unknown }).read({ toString: () => "M0 0" })]).toEqual([name, prop, undefined]);
});

test("only whole addresses of the web can be opened", () => {
  for (const bad of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//evil", "/api/sessions", "blob:http://x/y", "https://user:pass@host/", "vbscript:x", 5]) expect(address.read(bad)).toBe(undefined);
  expect(address.read("https://example.org/a?b#c")).toBe("https://example.org/a?b#c");
  expect([paint.read("#0f5563"), paint.read("var(--petrol)"), paint.read("var(--evil)"), paint.read("red url(x)")]).toEqual(["#0f5563", "var(--petrol)", undefined, undefined]);
  expect(pathData.read("M0 0L1 1")).toBe("M0 0L1 1");
});

test("a picture is what its bytes say, and no larger than can be drawn", () => {
  const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  expect(pictureOf(dot)).toEqual({ kind: "image/png", width: 1, height: 1 });
  const huge = new Uint8Array([...atob(dot)].map((one) => one.charCodeAt(0)));
  new DataView(huge.buffer).setUint32(16, 30_000);
  new DataView(huge.buffer).setUint32(20, 30_000);
  expect(pictureOf(btoa(String.fromCharCode(...huge)))).toBe(null);
  for (const other of ["<svg onload=x>", "GIF89a", "\xff\xd8\xff", "\xff\xd8", ""]) expect(pictureOf(btoa(other))).toBe(null);
  expect(picture.read("data:text/html")).toBe(undefined);
});

test("the caret stays before the same rest of a text that was rewritten", () => {
  expect(caretAfter("abc", 2, "ABC")).toBe(2); // as many characters as before
  expect(caretAfter("1a2", 2, "12")).toBe(1); // a letter before it was taken out
  expect(caretAfter("1234|5".replace("|", ""), 4, "1,2345")).toBe(5); // a comma came in before it
  expect(caretAfter("abcd", 4, "ab")).toBe(2);
});

test("the half's word that it has seen an event wakes the fields and nothing else", () => {
  const tree = grown(["a", 0, 0, stack(1, [{ i: 2, c: "TextField", p: {}, k: [] }, text(3)])], ["u", 2, { $on: ["onChange"] }]);
  const woken: number[] = [];
  for (const id of [1, 2, 3]) tree.subscribe(id, () => woken.push(id));
  tree.apply([], 4);
  tree.apply([], 3);
  expect([tree.acknowledged, woken]).toEqual([4, [2]]);
});
