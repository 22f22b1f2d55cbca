/**
 * Keeps strings from servers, such as a reader's search term, from becoming workflow commands of
 * GitHub Actions. The runner executes commands from lines of stdout and stderr.
 */

import { fstatSync } from "node:fs";
import type { Host, Stream } from "./host.js";

/**
 * Matches a command up to its last character: `::` at the start of a line, also after spaces, and
 * the older `##[` anywhere.
 *
 * The runner ignores invisible characters in between, so only a visible character helps.
 */
const COMMAND = /(?=:)(?<=[\n\r](?:(?![\n\r])[\s\p{C}])*:(?:(?![\n\r])\p{C})*)|(?=\[)(?<=##)/gu;
/** The end of a chunk that the next chunk can continue to a command. */
const OPEN = /[\n\r](?:(?![\n\r])[\s\p{C}])*(?::(?:(?![\n\r])\p{C})*)?$|##?$/u;

/** Returns the host. In GitHub Actions, its outputs insert a space into every workflow command. */
export function disarmOutputs(host: Host): Host {
  if (!isInActions(host)) return host;
  // A spread would read `stdin`, which opens it.
  return Object.create(host, {
    stdout: { value: disarm(host.stdout) },
    stderr: { value: disarm(host.stderr) },
  });
}

function isInActions({ env }: Pick<Host, "env">): boolean {
  return env.GITHUB_ACTIONS === "true";
}

/**
 * Returns JSON with the same value that neither a terminal nor GitHub Actions interprets. The escaped
 * characters can only be in strings.
 */
export function escapeJson(json: string, host: Pick<Host, "env">): string {
  const escaped = json.replace(
    // `JSON.stringify` does not escape these.
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return isInActions(host) ? escaped.replaceAll("##[", "##\\u005b") : escaped;
}

/** Returns a stream that inserts a space into every command. A regular file needs no change. */
function disarm(stream: Stream): Stream {
  if (isRegularFile(stream)) return stream;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  // The output starts a line.
  let before = "\n";
  return {
    get isTTY() {
      return stream.isTTY === true;
    },
    get columns() {
      return stream.columns ?? 0;
    },
    write(data, done) {
      const text = typeof data === "string" ? data : decoder.decode(data, { stream: true });
      const joined = before + text;
      const written = joined.replace(COMMAND, " ").slice(before.length);
      before = OPEN.exec(joined)?.[0] ?? "";
      return stream.write(written, done);
    },
  };
}

function isRegularFile(stream: Stream & { fd?: unknown }): boolean {
  try {
    return typeof stream.fd === "number" && fstatSync(stream.fd).isFile();
  } catch {
    return false;
  }
}
