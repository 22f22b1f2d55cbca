/** The entry for Node.js, Deno and Bun. It embeds the core, so server bundles need no other file. */

export * from "./inline.js";
