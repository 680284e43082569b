/** How long a sheet must have lain still before it can be signed, in milliseconds. */
export const ARMING = 400;

export interface Press {
  field: string;
  /** Where the press came from; a press by a script is never trusted. */
  trusted: boolean;
  repeat: boolean;
  at: number;
}

/**
 * Decides whether a press signs: only a trusted, unrepeated press that begins and ends on the same field, both after the field
 * has been armed, and with nothing moved in between.
 */
export class Arming {
  private since: number;
  private begun: { field: string; since: number } | null = null;

  constructor(now: number) {
    this.since = now;
  }

  /** The sheet appeared, moved, was replaced or resized: begin anew. What was begun before is dropped, not kept. */
  reset(now: number): void {
    this.since = now;
    this.begun = null;
  }

  armed(now: number): boolean {
    return now - this.since >= ARMING;
  }

  left(now: number): number {
    return Math.max(0, ARMING - (now - this.since));
  }

  down(press: Press): void {
    this.begun = press.trusted && !press.repeat && this.armed(press.at) ? { field: press.field, since: this.since } : null;
  }

  /** True where this release completes a press that counts. */
  up(press: Press): boolean {
    const begun = this.begun;
    this.begun = null;
    return begun !== null && press.trusted && !press.repeat && begun.field === press.field && begun.since === this.since && this.armed(press.at);
  }

  cancel(): void {
    this.begun = null;
  }
}
