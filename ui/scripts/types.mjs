// Writes src/wire/types.ts from the OpenAPI document of the server.
//   python -m tools.wire            (from the root of the checkout; --check exits 1 when the file is stale)
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const target = join(import.meta.dirname, "../src/wire/types.ts");
const document = JSON.parse(readFileSync(0, "utf8"));
const schemas = document.components?.schemas ?? {};

const nameOf = (ref) => ref.split("/").at(-1).replaceAll(/[^A-Za-z0-9_]/g, "_");

const typeOf = (schema) => {
  if (schema === true || schema === undefined || Object.keys(schema).length === 0) return "unknown";
  if (schema.$ref) return nameOf(schema.$ref);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const many = schema.anyOf ?? schema.oneOf;
  if (many) return [...new Set(many.map(typeOf))].join(" | ");
  if (schema.allOf) return schema.allOf.map(typeOf).join(" & ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(" | ");
  switch (schema.type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array": {
      const inner = typeOf(schema.items ?? {});
      return inner.includes("|") || inner.includes("&") ? `(${inner})[]` : `${inner}[]`;
    }
    case "object":
      return schema.properties ? inline(schema) : `{ [name: string]: ${typeOf(schema.additionalProperties === false ? {} : schema.additionalProperties)} }`;
    default:
      return "unknown";
  }
};

const fields = (schema, serialized) =>
  Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const optional = !(schema.required ?? []).includes(name) && !serialized;
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `  ${key}${optional ? "?" : ""}: ${typeOf(property)};`;
  });

const inline = (schema) => `{ ${fields(schema, false).map((line) => line.trim()).join(" ")} }`;

const sentence = (text) => (text ? `/** ${text.trim().replaceAll("*/", "* /").split(/\n\s*\n/)[0].replaceAll(/\s*\n\s*/g, " ")} */\n` : "");

const blocks = Object.keys(schemas)
  .sort()
  .map((name) => {
    const schema = schemas[name];
    const head = sentence(schema.description);
    if (schema.type === "object" && schema.properties) return `${head}export interface ${nameOf(name)} {\n${fields(schema, false).join("\n")}\n}\n`;
    return `${head}export type ${nameOf(name)} = ${typeOf(schema)};\n`;
  });

const text = `// Generated from the server's OpenAPI document by scripts/types.mjs. Not to be edited.\n\n${blocks.join("\n")}`;

if (process.argv.includes("--check")) {
  let now = "";
  try {
    now = readFileSync(target, "utf8");
  } catch {
    // a missing file is stale
  }
  if (now !== text) {
    console.error("ui/src/wire/types.ts is not what the server's OpenAPI document gives. Write it again: see ui/scripts/types.mjs");
    process.exit(1);
  }
} else writeFileSync(target, text);
