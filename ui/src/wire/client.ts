import { encode, sha256hex, toBase64url } from "./bytes";
import { nextCounter } from "./counter";
import { type PageKey, signing, verify } from "./key";
import type { Json } from "./shapes";

/** The server did not answer at all, or not in time: whether it acted is unknown. */
export class NoAnswer extends Error {}

/** The answer at this address does not come from the pinned server. */
export class NotPlacet extends Error {}

/** The server answered with an error; `body` is what it said. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null,
    readonly body: unknown,
  ) {
    super(message);
  }
}

const refusal = async (response: Response): Promise<Refused> => {
  let body: unknown = null;
  try {
    body = await response.json();
  } catch {
    /* an error without a readable body is told by its status alone */
  }
  const error = (body as { error?: { code?: string; message?: string; hint?: string | null } } | null)?.error;
  return new Refused(response.status, error?.code ?? `http-${response.status}`, error?.message ?? "", error?.hint ?? null, body);
};

/** Speaks to one pinned server, with every request signed by the page's key. */
export class Client {
  private instance: string | null = null;

  constructor(
    private readonly key: PageKey,
    private readonly fetcher: typeof fetch = (...args) => fetch(...args),
  ) {}

  /** The server proves that it holds the pinned key; nothing signed leaves the page before. Returns its instance. */
  async prove(signal?: AbortSignal): Promise<string> {
    const nonce = toBase64url(crypto.getRandomValues(new Uint8Array(24)));
    let answer: { instance?: unknown; proof?: unknown };
    try {
      const response = await this.fetcher(`/healthz?nonce=${nonce}`, { cache: "no-store", credentials: "omit", redirect: "error", signal: withTimeout(signal, 5000) });
      answer = (await response.json()) as typeof answer;
    } catch (error) {
      if (error instanceof SyntaxError) throw new NotPlacet("no proof");
      throw new NoAnswer(String(error));
    }
    const { instance, proof } = answer ?? {};
    if (typeof instance !== "string" || typeof proof !== "string") throw new NotPlacet("no proof");
    if (!(await verify(this.key.serverKey, proof, encode(`placet-hello-v1\n${nonce}\n${instance}`)))) throw new NotPlacet("wrong proof");
    this.instance = instance;
    return instance;
  }

  /** The connection broke: whoever answers next has to prove itself before anything signed leaves the page. */
  doubt(): void {
    this.instance = null;
  }

  async get<T>(path: string): Promise<T> {
    return (await this.send("GET", path)).json() as Promise<T>;
  }

  async post<T>(path: string, body: { [name: string]: Json | undefined }): Promise<T> {
    return (await this.send("POST", path, JSON.stringify(body))).json() as Promise<T>;
  }

  async patch<T>(path: string, body: { [name: string]: Json | undefined }): Promise<T> {
    return (await this.send("PATCH", path, JSON.stringify(body))).json() as Promise<T>;
  }

  async remove(path: string): Promise<void> {
    await this.send("DELETE", path);
  }

  /** One signed request. Throws NoAnswer, NotPlacet or Refused; a restarted server is proved again and asked once more. */
  async send(method: string, path: string, body = "", options: { signal?: AbortSignal; timeout?: number | null } = {}): Promise<Response> {
    for (let attempt = 0; ; attempt += 1) {
      const instance = this.instance ?? (await this.prove(options.signal));
      const counter = await nextCounter();
      const text = `placet-request-v1\n${method}\n${path}\n${await sha256hex(body)}\n${instance}\n${counter}`;
      const signature = toBase64url(await crypto.subtle.sign(signing, this.key.pair.privateKey, encode(text)));
      const headers: Record<string, string> = {
        "Placet-Key": this.key.keyId,
        "Placet-Instance": instance,
        "Placet-Counter": String(counter),
        "Placet-Signature": signature,
      };
      if (method !== "GET" && body) headers["Content-Type"] = "application/json";
      let response: Response;
      try {
        const signal = options.timeout === null ? options.signal : withTimeout(options.signal, options.timeout ?? 15_000);
        response = await this.fetcher(path, { method, headers, body: body || undefined, cache: "no-store", credentials: "omit", redirect: "error", signal });
      } catch (error) {
        this.doubt();
        throw new NoAnswer(String(error));
      }
      if (response.ok) return response;
      const refused = await refusal(response);
      if (refused.code === "other-instance" && attempt === 0) {
        await this.prove(options.signal);
        continue;
      }
      throw refused;
    }
  }
}

const withTimeout = (signal: AbortSignal | undefined, ms: number): AbortSignal =>
  signal ? AbortSignal.any([signal, AbortSignal.timeout(ms)]) : AbortSignal.timeout(ms);
