import { type Words, en } from "./en";

export const zh: Words = { ...en };
