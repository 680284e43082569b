import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const out = join(import.meta.dirname, "../src/placet/web/static");

const filesBelow = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });

/** Writes assets.json: every built file with its SHA-256. The server checks them at its start. */
const assetHashes = (): Plugin => ({
  name: "placet-asset-hashes",
  apply: "build",
  closeBundle() {
    const entries = filesBelow(out)
      .map((path) => [relative(out, path).split(sep).join("/"), createHash("sha256").update(readFileSync(path)).digest("hex")] as const)
      .filter(([name]) => name !== "assets.json")
      .sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(join(out, "assets.json"), `${JSON.stringify(Object.fromEntries(entries), null, 1)}\n`);
  },
});

export default defineConfig({
  plugins: [react(), assetHashes()],
  build: {
    outDir: out,
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" },
  },
});
