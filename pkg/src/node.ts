/** The entry for Node, Deno and Bun. It embeds the core, so bundles for servers need no other file. */

export * from "./inline.js";
