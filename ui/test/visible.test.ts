import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { Ids } from "../src/text/Ids";
import { describe, expect, it } from "vitest";
import { oneLine, visible } from "../src/text/visible";

const raw = (text: string) =>
  visible(text)
    .lines.map((line) => line.pieces.map((piece) => piece.raw).join(""))
    .join("\n");
const marks = (text: string) => visible(text).lines.flatMap((line) => line.pieces.flatMap((piece) => (piece.kind === "mark" ? [piece.short] : [])));

describe("text made visible", () => {
  const nasty = [
    "plain",
    "",
    "a\n\n\n\n\n\nb",
    "echo \u202Etxt.exe \u2066x\u2069 \u200B\u2060\uFEFF\u00AD",
    "\u001b[2K\u001b[1A\u001b]8;;http://x\u0007link\u001b]8;;\u0007",
    "a\r\nb\rc\bd\u007f\u0085\u009b31m",
    `x${" ".repeat(2000)}y\t\tz`,
    "Z\u0301\u0302\u0303\u0304\u0305\u0306\u0307algo",
    "p\u0430ckages \uff43url caf\u00e9 中文 \u{1d41a}",
    "\ud800 lone \udfff",
    "\u{e0001}\u{e0041}\u{e007f}\u3164\uffa0\u2800\u115f",
    " \u3000\u00a0\u2003 ",
  ];
  it.each(nasty)("loses nothing of %j", (text) => expect(raw(text)).toBe(text));

  it("leaves no character that hides or turns the text outside of a mark", () => {
    for (const text of nasty)
      for (const line of visible(text).lines)
        for (const piece of line.pieces)
          if (piece.kind === "text") expect(piece.raw).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0]/);
  });

  it("names each control, bidi and invisible character of the list", () => {
    for (const [letter, short] of [["\u202e", "RLO"], ["\u2066", "LRI"], ["\u2067", "RLI"], ["\u2068", "FSI"], ["\u2069", "PDI"], ["\u200b", "ZWSP"], ["\u200c", "ZWNJ"], ["\u200d", "ZWJ"], ["\u200e", "LRM"], ["\u200f", "RLM"], ["\u2060", "WJ"], ["\ufeff", "BOM"], ["\u00ad", "SHY"], ["\r", "CR"], ["\b", "BS"], ["\u007f", "DEL"], ["\u0000", "NUL"], ["\u2028", "LS"]])
      expect(marks(`a${letter}b`)).toEqual([short]);
  });

  it("says that a text turns around", () => {
    expect(visible("a\u202eb").bidi).toBe(true);
    expect(visible("ab").bidi).toBe(false);
  });

  it("shows a terminal sequence as one mark and leaves no raw escape", () => {
    expect(marks("\u001b[2Kx")).toEqual(["ESC [2K"]);
    expect(marks("\u001b]8;;http://x\u0007")).toEqual(["ESC", "BEL"]);
  });

  it("counts a run of blanks that are no ASCII as one mark", () => {
    const shown = (text: string) => visible(text).lines[0]!.pieces.flatMap((one) => (one.kind === "mark" ? [one.short] : []));
    expect(shown(`a${"\u00a0".repeat(2000)}; rm x`)).toEqual(["NBSP ×2000"]);
    expect(shown(`${"\u3000".repeat(8)}b`)).toEqual(["IDSP ×8"]);
    expect(shown("\u3000".repeat(7))).toEqual(Array(7).fill("IDSP"));
    expect(shown(`a${"\u00a0 \t".repeat(500)}\u2003b`)).toEqual(["BLANKS ×1501"]);
    expect(visible(`a${"\u00a0".repeat(2000)}`).hidden).toEqual([{ short: "NBSP", long: "U+00A0 no-break space", count: 2000 }]);
  });

  it("counts a run of blanks instead of drawing it", () => {
    const [piece] = visible(`a${" ".repeat(2000)}; rm x`).lines[0]!.pieces.filter((one) => one.kind === "blanks");
    expect(piece).toMatchObject({ count: 2000, name: "space" });
  });

  it("folds a run of empty lines with its count, and numbers go on behind it", () => {
    const shown = visible(`a${"\n".repeat(301)}b`);
    expect(shown.lines.map((line) => [line.number, line.lines])).toEqual([[1, 1], [2, 300], [302, 1]]);
    expect(shown.lineCount).toBe(302);
  });

  it("marks letters from other alphabets that pass for Latin ones, with their line", () => {
    expect(visible("ok\np\u0430ckages").alike).toMatchObject([{ letter: "\u0430", line: 2 }]);
  });

  it("marks every letter outside ASCII in code, and none in prose", () => {
    expect(visible("caf\u00e9").lines[0]!.pieces.some((piece) => piece.kind === "letter")).toBe(true);
    expect(visible("caf\u00e9", "prose").lines[0]!.pieces).toEqual([{ kind: "text", raw: "caf\u00e9" }]);
  });

  it("cuts a stack of combining marks down to a count", () => {
    expect(marks("Z\u0301\u0302\u0303\u0304\u0305")).toEqual(["+3"]);
  });

  it("reads a megabyte within a second", () => {
    const started = performance.now();
    visible("x \u202e\t".repeat(200_000));
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it("makes one plain line for places that can draw no marks", () => {
    expect(oneLine("a\n\u202eb")).toBe("a ⏎ [RLO]b");
    expect(oneLine("x".repeat(500), 20)).toHaveLength(21);
  });
});

describe("ids in a text", () => {
  const drawn = (text: string) => renderToStaticMarkup(createElement(Ids, { text })).replaceAll(/<span class="one-line">(.*?)<\/span>/g, "[$1]");
  it("do not break, and are taken only as words of their own", () => {
    expect(drawn("pkg-4 of plugin chart-4, run-6.")).toBe("[pkg-4] of plugin [chart-4], [run-6].");
    for (const text of ["a_pkg-4", "pkg-4x", "PKG-4", "-pkg-4", "pkg-", "covid-19-like"]) expect(drawn(text)).toBe(text);
    expect(drawn("\u0430pkg-4")).not.toContain("["); // a Cyrillic letter before it is judged together with it
  });
});
