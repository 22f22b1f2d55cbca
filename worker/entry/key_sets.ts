/** The JWK Sets of trusted issuers, fetched seldom and by one for all. */

import { jwk } from "./core.js";

/** How long a set is good without a look: an hour. */
const FRESH_FOR = 3_600_000;
/** The least time between two looks for a key that a set did not have: a minute. */
const PAUSE = 60_000;
/** The least time between two looks as long as there is no set at all. */
const FIRST_PAUSE = 10_000;
const TIMEOUT = 5_000;
/** Far more than any issuer has keys, in bytes. */
const LONGEST = 128 * 1024;

interface KeySet {
  text: string;
  kids: Set<string>;
  fetched: number;
}

/** What is known of an address. */
interface Source {
  set?: KeySet;
  /** When it was last asked, with or without success. */
  asked: number;
  /** When it was last asked for a key that the set did not have. */
  searched: number;
  asking?: Promise<void>;
}

export class KeySets {
  readonly #sources = new Map<string, Source>();

  /**
   * The set at an address. It is fetched again when it is old, or lacks the key, but for that
   * at most once a minute: a stranger can name any key. An old set is better than none.
   */
  async get(address: string, kid: string): Promise<{ set: string } | { unavailable: true }> {
    const source = this.#source(address);
    const now = Date.now();
    const old = !source.set || now - source.set.fetched >= FRESH_FOR;
    const lacks = !source.set?.kids.has(kid);
    const pause = source.set ? PAUSE : FIRST_PAUSE;
    const due = old ? now - source.asked >= pause : lacks && now - source.searched >= PAUSE;
    if ((old || lacks) && (source.asking || due)) {
      if (!old) source.searched = now;
      source.asking ??= this.#ask(address, source);
      await source.asking;
    }
    return source.set ? { set: source.set.text } : { unavailable: true };
  }

  #source(address: string): Source {
    let source = this.#sources.get(address);
    if (!source) {
      source = { asked: 0, searched: 0 };
      this.#sources.set(address, source);
    }
    return source;
  }

  async #ask(address: string, source: Source): Promise<void> {
    source.asked = Date.now();
    try {
      const set = await fetched(address);
      if (set) source.set = set;
    } finally {
      delete source.asking;
    }
  }
}

async function fetched(address: string): Promise<KeySet | undefined> {
  try {
    const response = await fetch(address, {
      headers: { accept: "application/json" },
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return undefined;
    }
    const text = await shortText(response);
    // What Rust would refuse must not take the place of a good set.
    if ("error" in jwk(text, "", "RS256")) return undefined;
    const { keys } = JSON.parse(text) as { keys: { kid?: unknown }[] };
    const kids = keys.map(({ kid }) => kid).filter((kid) => typeof kid === "string");
    return { text, kids: new Set(kids), fetched: Date.now() };
  } catch {
    return undefined;
  }
}

/** A body of at most {@link LONGEST} bytes; a longer one is an error. */
async function shortText(response: Response): Promise<string> {
  let size = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size > LONGEST) controller.error(new RangeError("the key set is too long"));
      else controller.enqueue(chunk);
    },
  });
  return await new Response(response.body?.pipeThrough(counted) ?? null).text();
}
