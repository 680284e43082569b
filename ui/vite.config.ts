import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { insidePlugin } from "./scripts/inside.ts";

export default defineConfig({
  plugins: [react(), insidePlugin()],
  build: {
    outDir: join(import.meta.dirname, "../src/placet/web/static"),
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" },
    chunkSizeWarningLimit: 850,
  },
});
