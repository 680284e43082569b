import { describe, expect, it } from "vitest";
import { ARMING, Arming } from "../src/ask/arming";

const press = (field: string, at: number, more: { trusted?: boolean; repeat?: boolean } = {}) => ({ field, at, trusted: true, repeat: false, ...more });

describe("arming", () => {
  it("takes a press that begins and ends on the armed field", () => {
    const arming = new Arming(0);
    arming.down(press("allow", ARMING));
    expect(arming.up(press("allow", ARMING + 80))).toBe(true);
  });
  it("drops a press that began before the field was armed, however late it ends", () => {
    const arming = new Arming(0);
    arming.down(press("allow", ARMING - 1));
    expect(arming.up(press("allow", 5000))).toBe(false);
  });
  it("drops what is not trusted or a repeat", () => {
    const arming = new Arming(0);
    arming.down(press("allow", 1000, { trusted: false }));
    expect(arming.up(press("allow", 1100))).toBe(false);
    arming.down(press("allow", 1200, { repeat: true }));
    expect(arming.up(press("allow", 1300))).toBe(false);
    arming.down(press("allow", 1400));
    expect(arming.up(press("allow", 1500, { trusted: false }))).toBe(false);
  });
  it("drops a press that ends on another field", () => {
    const arming = new Arming(0);
    arming.down(press("reject", 1000));
    expect(arming.up(press("allow", 1100))).toBe(false);
  });
  it("drops a press over a move, also after the field has armed again", () => {
    const arming = new Arming(0);
    arming.down(press("allow", 1000));
    arming.reset(1050);
    expect(arming.up(press("allow", 2000))).toBe(false);
  });
  it("keeps nothing: a release alone never counts", () => {
    const arming = new Arming(0);
    expect(arming.up(press("allow", 1000))).toBe(false);
    arming.down(press("allow", 1100));
    expect(arming.up(press("allow", 1200))).toBe(true);
    expect(arming.up(press("allow", 1300))).toBe(false);
  });
});
