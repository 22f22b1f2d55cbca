import { fileURLToPath } from "node:url";

/** The repository's root folder. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** Exact versions of tools from crates.io. `scripts/bindgen/Cargo.toml` pins wasm-bindgen. */
export const VERSIONS = Object.freeze({
  wasmPack: "0.15.1",
  cargoDeny: "0.20.2",
});
