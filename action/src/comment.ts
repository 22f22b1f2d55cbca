/**
 * The comment on a pull request: one for each step, written again by every run of it. It has entries,
 * one for each run that it tells of, and a line that nobody sees before each.
 */

import { createHash } from "node:crypto";

/** The comment could not be written; the message says why. */
export class CommentError extends Error {
  /** The status that GitHub's API answered with, where it did. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/** Where comments are written, and by whom. */
export interface CommentPlace {
  /** The address of GitHub's API. */
  api: string;
  /** As in `acme/docs`. */
  repository: string;
  /** The pull request's number. */
  number: number;
  /** What GitHub's API is asked with. */
  token: string;
  /** What tells this step's comment from others. */
  step: string;
  /** The run, by its id: what it writes takes the place of what it has written before. */
  run: string;
  /** Whether the jobs of earlier runs stay in the comment. */
  keepsEarlier: boolean;
}

/** What a run has to say: of its job, or why there is none, which leaves earlier jobs as they are. */
export interface Entry {
  kind: "job" | "note";
  markdown: string;
}

interface StoredEntry extends Entry {
  run: string;
}

interface Comment {
  id: number;
  body?: string | null;
  user?: { id?: number; type?: string } | null;
}

const ATTEMPT_TIMEOUT = 5_000;
const PER_PAGE = 100;
/** Further comments are not looked through. */
const MOST_PAGES = 30;
/** Older entries are left out. */
const MOST_ENTRIES = 10;
/** Begins an entry; Markdown does not show it. */
const ENTRY = /^<!-- quillgate-(job|note) (\w*) -->\n/m;

/** Keeps one comment up to date. */
export class JobComment {
  readonly #place: CommentPlace;
  readonly #marker: string;
  #id: number | undefined;
  /** Takes back what is under way. */
  #signal: AbortSignal | undefined;

  constructor(place: CommentPlace) {
    this.#place = place;
    const digest = createHash("sha256").update(place.step).digest("hex").slice(0, 32);
    // Markdown does not show it.
    this.#marker = `<!-- quillgate-action ${digest} -->`;
  }

  /**
   * Writes the comment, or rewrites the one of an earlier run.
   *
   * @throws {CommentError}
   */
  async write(entry: Entry, signal?: AbortSignal): Promise<void> {
    const { repository, number } = this.#place;
    this.#signal = signal;
    // Another run may have written meanwhile, so it is read every time.
    const found = (await this.#read()) ?? (await this.#find());
    this.#id = found?.id;
    const body = this.#compose(found?.body ?? "", entry);
    if (this.#id !== undefined) {
      const target = `/repos/${repository}/issues/comments/${this.#id}`;
      await this.#call("PATCH", target, { body });
      return;
    }
    const target = `/repos/${repository}/issues/${number}/comments`;
    this.#id = ((await this.#call("POST", target, { body })) as Comment).id;
  }

  #compose(body: string, { kind, markdown }: Entry): string {
    const { run, keepsEarlier } = this.#place;
    const isReplaced = (other: StoredEntry): boolean => {
      if (kind === "note") return other.kind === "note" && other.run === run;
      return other.run === run || !keepsEarlier;
    };
    const kept = parseEntries(body.slice(this.#marker.length)).filter(
      (other) => !isReplaced(other),
    );
    const entries = [...limitEntries(kept), { kind, run, markdown }];
    const texts = entries.map((entry) => {
      return `<!-- quillgate-${entry.kind} ${entry.run} -->\n${entry.markdown}`;
    });
    return `${this.#marker}\n${texts.join("\n\n")}`;
  }

  /** The comment that this run has written before; `undefined` once somebody has deleted it. */
  async #read(): Promise<Comment | undefined> {
    if (this.#id === undefined) return undefined;
    const target = `/repos/${this.#place.repository}/issues/comments/${this.#id}`;
    try {
      return (await this.#call("GET", target)) as Comment;
    } catch (error) {
      if (error instanceof CommentError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #find(): Promise<Comment | undefined> {
    const { repository, number } = this.#place;
    for (let page = 1; page <= MOST_PAGES; page++) {
      const query = `per_page=${PER_PAGE}&page=${page}`;
      const target = `/repos/${repository}/issues/${number}/comments?${query}`;
      const comments = (await this.#call("GET", target)) as Comment[];
      for (const comment of comments) if (await this.#isOwn(comment)) return comment;
      if (comments.length < PER_PAGE) return undefined;
    }
    return undefined;
  }

  /** Anybody could copy the marker into a comment; theirs is not to be overwritten. */
  async #isOwn({ body, user }: Comment): Promise<boolean> {
    if (!body?.startsWith(this.#marker)) return false;
    // The token of a run, or of a GitHub App, writes as a bot; it may not ask who it is.
    if (user?.type === "Bot") return true;
    const self = await this.#call("GET", "/user").catch(() => undefined);
    return user?.id !== undefined && (self as { id?: number } | undefined)?.id === user.id;
  }

  async #call(method: string, target: string, content?: unknown): Promise<unknown> {
    const { api, token } = this.#place;
    const deadline = AbortSignal.timeout(ATTEMPT_TIMEOUT);
    const response = await fetch(api + target, {
      method,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${token}`,
        "user-agent": "quillgate-action",
        "x-github-api-version": "2022-11-28",
        ...(content === undefined ? {} : { "content-type": "application/json" }),
      },
      body: content === undefined ? null : JSON.stringify(content),
      redirect: "error",
      signal: this.#signal ? AbortSignal.any([this.#signal, deadline]) : deadline,
    }).catch(() => {
      throw new CommentError("GitHub's API did not answer");
    });
    const text = await response.text().catch(() => {
      throw new CommentError("GitHub's API broke off its answer");
    });
    if (!response.ok) throw new CommentError(explainStatus(response.status), response.status);
    try {
      return JSON.parse(text);
    } catch {
      throw new CommentError("GitHub's API answered with something that is not JSON");
    }
  }
}

function parseEntries(text: string): StoredEntry[] {
  const [, ...parts] = text.replaceAll("\r\n", "\n").split(ENTRY);
  const entries: StoredEntry[] = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [kind, run = "", markdown = ""] = parts.slice(at, at + 3);
    entries.push({ kind: kind === "job" ? "job" : "note", run, markdown: markdown.trim() });
  }
  return entries;
}

/** The last ones, with room for another; the last job stays, however many notes came after it. */
function limitEntries(entries: StoredEntry[]): StoredEntry[] {
  if (entries.length < MOST_ENTRIES) return entries;
  const job = entries.findLast(({ kind }) => kind === "job");
  const last = entries.slice(1 - MOST_ENTRIES);
  return job === undefined || last.includes(job) ? last : [job, ...last.slice(1)];
}

function explainStatus(status: number): string {
  if (status !== 403 && status !== 404) return `GitHub's API answered with status ${status}`;
  return (
    `GitHub's API answered with status ${status}: the job needs \`permissions: pull-requests: write\`, ` +
    "which a workflow of a pull request from a fork does not get"
  );
}
