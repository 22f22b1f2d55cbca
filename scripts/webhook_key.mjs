/**
 * Derives the keys that verify a project's webhooks at a receiver, for `quillgate webhook key`. The npm
 * package `quillgate-gateway` contains a copy of this file.
 */
import { hkdfSync } from "node:crypto";

const PREFIX = "whsec_";
const KEY_BYTES = 32;
const MAX_URL_LENGTH = 2048;
/** Absolute URLs of visible ASCII, without credentials, backslashes or a fragment. */
const ADDRESS = /^https?:\/\/[!"$-.0->A-[\]-~]+(?:[/?][!"$-[\]-~]*)?$/i;
/** Hosts of this machine. Only these may have http. */
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
/** Strings that cannot be a single segment of a path. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it rejects control characters.
const INVALID_SEGMENT = /^\.{0,2}$|[/\\%?#\u0000-\u001f\u007f-\u009f]/;

/** Input from which no key can be derived. */
class WebhookKeyError extends Error {
  name = "WebhookKeyError";
}

/** Derives the keys of one receiver with HKDF and SHA-256, like `worker/src/jobs/webhook.rs`. */
export function deriveKeys({ project, url }, secrets) {
  if (!project || INVALID_SEGMENT.test(project)) {
    throw new WebhookKeyError("--project must be a project's id: one segment of a path");
  }
  if (!url || url.length > MAX_URL_LENGTH || !isAddress(url)) {
    throw new WebhookKeyError(
      "--url must be an absolute https URL, or http on this machine, without credentials or fragment",
    );
  }
  const info = ["quillgate webhook", normalizeAddress(url), project].join("\n");
  return secrets.split(",").map((secret) => {
    const key = Buffer.from(hkdfSync("sha256", readSecret(secret.trim()), "", info, KEY_BYTES));
    return PREFIX + key.toString("base64");
  });
}

/** Returns whether the gateway could deliver to a URL. Only the gateway knows which hosts it allows. */
function isAddress(url) {
  if (!ADDRESS.test(url) || !URL.canParse(url)) return false;
  // `URL` would turn other spellings into these hosts, but the gateway compares what is written.
  const [, host] = /^http:\/\/(\[[^\]]*\]|[^/?:]*)/i.exec(url) ?? [];
  return host === undefined || LOOPBACK.has(host.toLowerCase());
}

/** Converts the scheme and the host of an address to lower case. */
function normalizeAddress(url) {
  const [origin] = /^[^/]+\/\/[^/?]*/.exec(url);
  return origin.toLowerCase() + url.slice(origin.length);
}

function readSecret(text) {
  const base64 = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : "";
  const secret = Buffer.from(base64, "base64");
  const fits = secret.length >= 24 && secret.length <= 64;
  if (!fits || secret.toString("base64") !== base64) {
    throw new WebhookKeyError("a secret must be whsec_ and the base64 of 24 to 64 bytes");
  }
  return secret;
}
