import { fromBase64url, toBase64url, toHex } from "./bytes";

/** The page's own key and the server key that it pinned when the link was redeemed. The private half cannot be taken out. */
export interface PageKey {
  pair: CryptoKeyPair;
  keyId: string;
  publicKey: string;
  serverKey: string;
}

/** A key for one thing that a person does, so that sending it again changes nothing. */
export const newKey = (): string => crypto.randomUUID();

const algorithm = { name: "ECDSA", namedCurve: "P-256" } as const;
export const signing = { name: "ECDSA", hash: "SHA-256" } as const;

const open = (): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open("placet", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("key");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("no storage"));
  });

const run = async <T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> => {
  const database = await open();
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = database.transaction("key", mode);
      const request = act(transaction.objectStore("key"));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(transaction.error ?? new Error("no storage"));
      transaction.onabort = transaction.onerror;
    });
  } finally {
    database.close();
  }
};

export const loadKey = async (): Promise<PageKey | null> => ((await run("readonly", (store) => store.get("page"))) as PageKey | undefined) ?? null;
export const saveKey = async (key: PageKey): Promise<void> => void (await run("readwrite", (store) => store.put(key, "page")));
/** Throws where this browser does not let the page keep a key. */
export const tryStorage = async (pair: CryptoKeyPair): Promise<void> => {
  await run("readwrite", (store) => store.put(pair, "trial"));
  await run("readwrite", (store) => store.delete("trial"));
};
export const forgetKey = async (): Promise<void> => void (await run("readwrite", (store) => store.delete("page")));

/** A new key for this origin, port included; only its public half can ever be read. */
export const makeKey = async (): Promise<{ pair: CryptoKeyPair; publicKey: string; keyId: string }> => {
  const pair = await crypto.subtle.generateKey(algorithm, false, ["sign", "verify"]);
  const point = await crypto.subtle.exportKey("raw", pair.publicKey);
  const keyId = toHex(await crypto.subtle.digest("SHA-256", point)).slice(0, 32);
  return { pair, publicKey: toBase64url(point), keyId };
};

/** True where `signature` over `text` was made by the owner of the raw P-256 point `publicKey`. */
export const verify = async (publicKey: string, signature: string, text: Uint8Array<ArrayBuffer>): Promise<boolean> => {
  try {
    const key = await crypto.subtle.importKey("raw", fromBase64url(publicKey), algorithm, false, ["verify"]);
    return await crypto.subtle.verify(signing, key, fromBase64url(signature), text);
  } catch {
    return false; // a proof that cannot be read proves nothing
  }
};
