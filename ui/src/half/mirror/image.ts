/** What a picture is by its own first bytes; null where it is no PNG or JPEG, or too large to be drawn without harm. */
export interface Picture {
  kind: "image/png" | "image/jpeg";
  width: number;
  height: number;
}

const MOST = 4_000_000;
const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

const sized = (kind: Picture["kind"], width: number, height: number): Picture | null =>
  width > 0 && height > 0 && width * height <= MOST ? { kind, width, height } : null;

export const pictureOf = (base64: string): Picture | null => {
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  } catch {
    return null;
  }
  const view = new DataView(bytes.buffer);
  if (bytes.length > 33 && png.every((byte, at) => bytes[at] === byte)) return sized("image/png", view.getUint32(16), view.getUint32(20));
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return null;
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1]!;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return sized("image/jpeg", view.getUint16(at + 7), view.getUint16(at + 5));
    at += 2 + view.getUint16(at + 2);
  }
  return null;
};
