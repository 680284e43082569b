import { type Words, en } from "./en";

export const de: Words = { ...en };
