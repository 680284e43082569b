import { describe, expect, it } from "vitest";
import { changeOf } from "../src/ask/change";
import { formOf } from "../src/ask/form";
import type { Visible } from "../src/text/visible";

const none = { sandbox_permissions: null, justification: null };
const raw = (shown: Visible) => shown.lines.map((line) => line.pieces.map((piece) => piece.raw).join(""));
const sides = (before: string, after: string) => {
  const { shown, signs } = changeOf(before, after);
  const of = (other: string) => raw(shown).filter((_, index) => signs[index] !== other).join("\n");
  return [of("+"), of("-")];
};

describe("the form of a call", () => {
  it("shows a file's whole new text, and its path", () => {
    const form = formOf("write_file", JSON.stringify({ content: "a\nb\n", path: "x" }), none)!;
    expect(form.fields.map(({ name, text }) => [name, text])).toEqual([["path", "x"]]);
    expect([form.main!.kind, form.copied, raw(form.main!.shown)]).toEqual(["text", "a\nb\n", ["a", "b", ""]]);
  });
  it("leaves out only what stands word for word in another article", () => {
    const sent = JSON.stringify({ path: "x", content: "", sandbox_permissions: "danger-full-access", justification: "Because." });
    const names = (elsewhere: { [name: string]: string | null }) => formOf("write_file", sent, elsewhere)!.fields.map(({ name }) => name);
    expect(names({ sandbox_permissions: "danger-full-access", justification: "Because." })).toEqual(["path"]);
    expect(names({ sandbox_permissions: "workspace-write", justification: "Because" })).toEqual(["path", "sandbox_permissions", "justification"]);
  });
  it.each([
    ["another tool", "plugin.tool", { path: "x" }],
    ["a name of an inherited property", "constructor", { path: "x" }],
    ["a field that the tool does not have", "read_file", { path: "x", more: 1 }],
    ["a number that a page cannot hold", "read_file", { path: "x", offset: 1e300 }],
    ["text for a number", "read_file", { path: "x", offset: "1" }],
    ["no object", "read_file", ["x"]],
  ])("%s is shown as it was sent", (_, tool, sent) => {
    expect(formOf(tool, JSON.stringify(sent), none)).toBeNull();
  });
  it("what is no JSON is shown as it was sent", () => {
    expect(formOf("write_file", '{"path":', none)).toBeNull();
  });
});

describe("a difference", () => {
  it("keeps what stays, and tells what goes and comes", () => {
    const { shown, signs } = changeOf("one\ntwo\nthree\n", "one\n2\nthree\nfour\n");
    expect(raw(shown).map((text, index) => signs[index] + text)).toEqual([" one", "-two", "+2", " three", "+four", " "]);
    expect(shown.lines.map((line) => line.number)).toEqual([1, 2, 3, 4, 5, 6]);
  });
  it.each([
    ["", ""],
    ["a", "a\n"],
    ["a\n", ""],
    ["", "a\n\n\n\n\n\n\nb"],
    ["x\n\n\n\n\n\n\ny", "x\n\n\n\n\ny\u202e\n"],
    ["a\nb\nc\nd", "d\nc\nb\na"],
    [Array.from({ length: 3000 }, (_, n) => `old ${n}`).join("\n"), Array.from({ length: 3000 }, (_, n) => `new ${n}`).join("\n")],
  ])("holds every byte of both texts (%#)", (before, after) => {
    expect(sides(before, after)).toEqual([before, after]);
  });
  it("counts what is hidden on either side", () => {
    const { shown } = changeOf("a\u200b\nb", "a\nb\u202e");
    expect([shown.hiddenCount, shown.bidi, shown.hidden.length]).toEqual([2, true, 2]);
  });
});
