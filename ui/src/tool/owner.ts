/** Whose a call is, where it is not the model's alone: a tool of a plugin, or a call that a plugin makes. */

const TOOL = /^([a-z]{3,6}-\d+)\.[a-z][a-z0-9_]*$/;
const CALLER = /^plugin ([a-z]{3,6}-\d+) run-\d+$/;
/** Calls of a message stay below this position; from here on they are made by plugins. */
const FIRST_OF_PLUGINS = 1000;

/** The plugin whose tool this is, by its name; null for placet's own tools. */
export const ownerOf = (tool: string): string | null => TOOL.exec(tool)?.[1] ?? null;

/** The plugin that makes this call in the open turn, an empty text where it is not named; null for a call of the model. */
export const callerOf = (position: number, callId: string): string | null => (position < FIRST_OF_PLUGINS ? null : (CALLER.exec(callId)?.[1] ?? ""));
