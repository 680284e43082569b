export interface Frame {
  event: string;
  data: string;
}

/** Reads server-sent events (WHATWG HTML, section 9.2) out of chunks of text; comments are told as the event "ping". */
export class FrameReader {
  private rest = "";
  private event = "";
  private data: string[] = [];

  /** The frames that `chunk` completes. */
  push(chunk: string): Frame[] {
    const frames: Frame[] = [];
    const lines = (this.rest + chunk).split("\n");
    this.rest = lines.pop() ?? "";
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line === "") {
        if (this.data.length) frames.push({ event: this.event || "message", data: this.data.join("\n") });
        this.event = "";
        this.data = [];
      } else if (line.startsWith(":")) frames.push({ event: "ping", data: "" });
      else {
        const colon = line.indexOf(":");
        const name = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (name === "event") this.event = value;
        else if (name === "data") this.data.push(value);
      }
    }
    return frames;
  }
}
