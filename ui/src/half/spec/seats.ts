/** A place in the page where a half may draw, within bounds that it cannot leave. Sizes are CSS pixels. */
export interface SeatSpec {
  /** Every view is shown, one that wins, one per key, or the first that draws something. */
  readonly kind: "list" | "single" | "keyed" | "chain";
  /** `session`: only halves of the session that is shown. */
  readonly scope: "root" | "session";
  readonly height: { readonly least: number; readonly usual: number; readonly most: number };
}

export const seats = {
  "shell.overlay": { kind: "list", scope: "root", height: { least: 48, usual: 160, most: 320 } },
  "sidebar.footer.action": { kind: "list", scope: "root", height: { least: 28, usual: 64, most: 200 } },
  "session.header": { kind: "single", scope: "session", height: { least: 40, usual: 40, most: 40 } },
  "conversation.chat.turnTail": { kind: "chain", scope: "session", height: { least: 32, usual: 120, most: 480 } },
  "tool.call.toolview": { kind: "keyed", scope: "session", height: { least: 32, usual: 160, most: 480 } },
  "settings.section": { kind: "list", scope: "root", height: { least: 48, usual: 160, most: 480 } },
} as const satisfies { [name: string]: SeatSpec };

export type SeatName = keyof typeof seats;

export const seatOf = (name: unknown): SeatSpec | null => (typeof name === "string" && Object.hasOwn(seats, name) ? seats[name as SeatName] : null);

export const clampHeight = (seat: SeatSpec, height: unknown): number =>
  typeof height === "number" && Number.isFinite(height) && height > 0 ? Math.min(seat.height.most, Math.max(seat.height.least, Math.round(height))) : seat.height.usual;
