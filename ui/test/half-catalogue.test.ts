import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Events } from "../src/half/inside/services";
import { components } from "../src/half/spec/components";
import { seats } from "../src/half/spec/seats";
import { tokens } from "../src/half/spec/tokens";

/** What agents are told about browser halves; the inspect tools answer from it. */
const book = JSON.parse(readFileSync(join(import.meta.dirname, "../../src/placet/cordis/client/catalogue.json"), "utf-8")) as {
  services: object;
  events: object;
  seats: Record<string, { kind: string; scope: string; contract: string }>;
  components: Record<string, { props: Record<string, string> }>;
  tokens: Record<string, { type: string }>;
};

/** The types of properties and events as the catalogue writes them. */
export const typesOf = (name: keyof typeof components): Record<string, string> => {
  const { props, events, kids } = components[name];
  return {
    ...Object.fromEntries(Object.entries(props).map(([prop, kind]) => [prop, (kind as { says: string }).says])),
    ...Object.fromEntries(Object.entries(events).map(([event, args]) => [event, `(${(args as { says: string }[]).map((kind) => `value: ${kind.says}`).join(", ")}) => void`])),
    ...(kids === "none" ? {} : { children: kids === "text" ? "text" : "components and text" }),
  };
};

test("l15 the catalogue names exactly the components that are drawn, with their properties and events", () => {
  const known = Object.fromEntries((Object.keys(components) as (keyof typeof components)[]).map((name) => [name, typesOf(name)]));
  expect(Object.fromEntries(Object.entries(book.components).map(([name, one]) => [name, one.props]))).toEqual(known);
});

test("l16 the catalogue names exactly the seats that there are, with kind, scope and height", () => {
  expect(Object.keys(book.seats)).toEqual(Object.keys(seats));
  for (const [name, seat] of Object.entries(seats)) {
    const { kind, scope, contract } = book.seats[name]!;
    expect([kind, scope]).toEqual([seat.kind, seat.scope]);
    const { least, usual, most } = seat.height;
    expect(contract).toContain(least < most ? `${least} to ${most}, ${usual}` : `Height: ${least} pixels`);
  }
});

test("l15 the catalogue names exactly the tokens that a half may set, and the events that it can hear", () => {
  expect(Object.fromEntries(Object.entries(book.tokens).map(([name, one]) => [name, one.type]))).toEqual(Object.fromEntries(Object.entries(tokens).map(([name, kind]) => [name, kind.says])));
  expect(Object.keys(book.events).sort()).toEqual([...Events.names].sort());
});
