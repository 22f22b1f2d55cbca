import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root folder. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** The oldest Node.js that everything here runs on. */
export const NODE_MINIMUM = "20.19.0";

/** Build tools that must have exactly these versions. */
export const VERSIONS = Object.freeze({
  wasmBindgen: "0.2.130",
  wasmPack: "0.15.1",
  cargoDeny: "0.20.2",
});

/**
 * Says how the pinned wasm-bindgen CLI and the crate's own pin differ.
 *
 * @param {string} [manifest] the text of the root `Cargo.toml`
 * @returns {string | undefined} a message, or nothing when they agree
 */
export function pinMismatch(manifest = readFileSync(join(ROOT, "Cargo.toml"), "utf8")) {
  const pin = /^wasm-bindgen\s*=\s*(?:\{[^}\n]*version\s*=\s*)?"=([^"]+)"/m.exec(manifest)?.[1];
  if (pin === VERSIONS.wasmBindgen) return undefined;
  return pin
    ? `Cargo.toml pins wasm-bindgen =${pin}, but scripts/versions.mjs pins its CLI ${VERSIONS.wasmBindgen}: change both together.`
    : `Cargo.toml has no exact pin of wasm-bindgen; scripts/versions.mjs expects wasm-bindgen = "=${VERSIONS.wasmBindgen}".`;
}
