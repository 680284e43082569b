import { type PageKey, makeKey, saveKey, tryStorage } from "./key";

export type LinkOutcome = { kind: "linked"; key: PageKey } | { kind: "spent" | "unknown" | "failed" | "storage" } | { kind: "refused"; why: string };

/** Takes the one-time secret out of the address, so that it stays in no history, and returns it. */
export const takeSecret = (): string | null => {
  const secret = new URLSearchParams(location.hash.slice(1)).get("link");
  if (secret !== null) history.replaceState(null, "", location.pathname + location.search);
  return secret;
};

const label = (): string => {
  const agent = navigator.userAgent;
  const browser = /Edg\//.test(agent) ? "Edge" : /Firefox\//.test(agent) ? "Firefox" : /Chrom(e|ium)\//.test(agent) ? "Chromium" : /Safari\//.test(agent) ? "Safari" : "Browser";
  const system = /Android/.test(agent) ? "Android" : /iPhone|iPad/.test(agent) ? "iOS" : /Mac OS/.test(agent) ? "macOS" : /Windows/.test(agent) ? "Windows" : "Linux";
  return `${browser}, ${system}`;
};

/** Makes this browser's key and registers its public half against the one-time secret or the typed code. */
export const redeem = async (proof: { secret: string } | { code: string }): Promise<LinkOutcome> => {
  let made: Awaited<ReturnType<typeof makeKey>>;
  try {
    made = await makeKey();
    await tryStorage(made.pair);
  } catch {
    return { kind: "storage" };
  }
  try {
    const response = await fetch("/api/link", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...proof, publicKey: made.publicKey, label: label() }),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(15_000),
    });
    const body = (await response.json()) as { serverKey?: string; keyId?: string; error?: { code?: string; message?: string } };
    if (!response.ok || typeof body.serverKey !== "string") {
      const code = body.error?.code;
      if (code === "link-spent") return { kind: "spent" };
      if (code === "link-unknown") return { kind: "unknown" };
      return body.error?.message ? { kind: "refused", why: body.error.message } : { kind: "failed" };
    }
    const key: PageKey = { ...made, serverKey: body.serverKey };
    await saveKey(key);
    return { kind: "linked", key };
  } catch {
    return { kind: "failed" };
  }
};
