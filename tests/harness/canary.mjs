/** The canary: the admin key of a test run, which no written or built file may contain. */
import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../scripts/versions.mjs";
import { LOGS } from "./process.mjs";

/** The file that lists the programs that received the canary. */
const PLANTED = join(LOGS, "canary-planted.txt");

let own;

/** Returns the admin key of `npm test`, or a new one if a suite runs alone. */
export function canaryKey() {
  own ??= process.env.QUILLGATE_CANARY_KEY || newCanaryKey();
  return own;
}

export function newCanaryKey() {
  return `mint_canary_${randomBytes(24).toString("hex")}`;
}

/** Records that a program received the canary, and ignores other keys. */
export function noteCanary(where, key) {
  if (!key || key !== process.env.QUILLGATE_CANARY_KEY) return;
  mkdirSync(LOGS, { recursive: true });
  appendFileSync(PLANTED, `${where}\n`);
}

export async function findCanary(key, isPlanted) {
  const folders = ["tests/.logs", "pkg/dist", "worker/build", "gateway/dist", "www/dist"];
  const { hits } = await scanForCanary(
    key,
    folders.map((folder) => join(ROOT, folder)),
  );
  const leaks = hits.map(({ file, form }) => `the admin key is in ${file} (${form})`);
  const planted = await readFile(PLANTED, "utf8").catch(() => "");
  const missing = ["upstream", "gateway"].filter((name) => !planted.split("\n").includes(name));
  if (!isPlanted) return leaks;
  return [...leaks, ...missing.map((name) => `no ${name} was started with the admin key`)];
}

/** Searches files for a key, verbatim or encoded, also within a longer encoded string. */
export async function scanForCanary(key, roots) {
  const needles = formsOf(key);
  const files = (await Promise.all(roots.map(filesBelow))).flat();
  const hits = [];
  for (const file of files) {
    const raw = await readFile(file);
    const text = raw.toString("latin1");
    const lower = text.toLowerCase();
    for (const { form, needle, anyCase } of needles) {
      if ((anyCase ? lower : text).includes(needle)) hits.push({ file, form });
    }
  }
  return { files: files.length, hits };
}

function formsOf(key) {
  const bytes = Buffer.from(key);
  const everyByte = bytes.toString("hex").replace(/../g, "%$&");
  const forms = [
    { form: "plain", needle: key },
    { form: "hex", needle: bytes.toString("hex"), anyCase: true },
    { form: "percent-encoded", needle: everyByte, anyCase: true },
    { form: "percent-encoded", needle: everyByte.replace(/%5f/g, "_"), anyCase: true },
    { form: "percent-encoded", needle: key.replaceAll("_", "%5f").toLowerCase(), anyCase: true },
    { form: "utf-16", needle: Buffer.from(key, "utf16le").toString("latin1") },
  ];
  const encoded = ["base64", "base64url"].flatMap((form) =>
    shiftedBase64(bytes, form).map((needle) => ({ form, needle })),
  );
  return [...forms, ...encoded].filter(
    ({ needle }, at, all) => all.findIndex((other) => other.needle === needle) === at,
  );
}

/** Encodes a key without the characters that depend on the bytes around it, at each offset. */
function shiftedBase64(bytes, form) {
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString(form)
      .replace(/=+$/, "");
    const start = shift === 0 ? 0 : shift + 1;
    const uncertain = (shift + bytes.length) % 3 === 0 ? 0 : 1;
    return encoded.slice(start, encoded.length - uncertain);
  });
}

async function filesBelow(root) {
  const kind = await stat(root).catch(() => undefined);
  if (!kind) return [];
  if (kind.isFile()) return [root];
  const entries = await readdir(root, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}
