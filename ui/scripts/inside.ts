import { join } from "node:path";
import { type Plugin, build } from "vite";

const PREFIX = "virtual:half/";
const inside = join(import.meta.dirname, "../src/half/inside");

/** Builds a program of its own for a worker of a half and gives its text: the page hands it to the frame, and never runs it. */
const programOf = async (name: string): Promise<string> => {
  const built = await build({
    configFile: false,
    publicDir: false,
    logLevel: "warn",
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    build: { write: false, target: "es2023", minify: true, lib: { entry: join(inside, `${name}.ts`), formats: ["iife"], name: "half" } },
  });
  const [first] = Array.isArray(built) ? built : [built];
  if (!first || !("output" in first)) throw new Error(`nothing was built for ${name}`);
  return first.output[0].code;
};

/** `import text from "virtual:half/guard"` and `"virtual:half/runtime"`. */
export const insidePlugin = (): Plugin => ({
  name: "placet-inside",
  resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : null),
  load: async (id) => (id.startsWith(`\0${PREFIX}`) ? `export default ${JSON.stringify(await programOf(id.slice(PREFIX.length + 1)))};` : null),
});
