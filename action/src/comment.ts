/**
 * Writes the step's comment on a pull request. All runs of a step update the same comment. Steps that
 * differ only in their prompts, such as those of two calls of a reusable workflow, share no comment.
 *
 * The comment consists of entries, each for one run. An HTML comment, invisible to readers, starts
 * each entry.
 */

import { createHash } from "node:crypto";
import { callGithub, type GithubApi, GithubError } from "./github_api.js";

const PERMISSION =
  "the job needs `permissions: pull-requests: write`, which a workflow of a pull request from a fork does not get";

/** Thrown when the comment cannot be written. */
export class CommentError extends Error {
  /** Whether the token lacks the permission, as in a workflow of a pull request from a fork. */
  readonly isRefusal: boolean;

  constructor({ message, status }: GithubError) {
    const isRefusal = status === 403 || status === 404;
    super(isRefusal ? `${message}: ${PERMISSION}` : message);
    this.isRefusal = isRefusal;
  }
}

/** The pull request to comment on, and the identity of the step. */
export interface CommentPlace extends GithubApi {
  number: number;
  /** Identifies the step. All runs of the step have the same value. */
  step: string;
  /** Distinguishes steps of one run with the same `step`. Can differ between runs. */
  call: string;
  /** The run's id. A run can replace its own earlier entries. */
  run: string;
  /** Whether a new job entry keeps the entries of other runs. */
  keepsEarlier: boolean;
  /** Whether a run writes nothing if the comment is about a later run already. */
  yieldsToLater: boolean;
}

export interface Entry {
  /**
   * `job` describes a run's job or preview. `note` is the outcome of a run whose job was not created or is not
   * known. A note never replaces a job.
   */
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

const PER_PAGE = 100;
/** The maximum number of pages of comments to search. */
const MAX_PAGES = 30;
/** The maximum number of entries in the comment. The oldest are removed. */
const MAX_ENTRIES = 10;
/** Matches the HTML comment at the start of an entry, and captures its kind and its run. */
const ENTRY = /^<!-- quillgate-(job|note) (\w*) -->\n/m;

export class StepComment {
  readonly #place: CommentPlace;
  /** Starts the body of every comment of this step. Invisible to readers. */
  readonly #prefix: string;
  /** Starts the body of this call's comment. */
  readonly #marker: string;
  #id: number | undefined;
  /** Aborts the requests of the current {@link write}. */
  #signal: AbortSignal | undefined;

  constructor(place: CommentPlace) {
    this.#place = place;
    this.#prefix = `<!-- quillgate-action ${digest(place.step)}`;
    this.#marker = `${this.#prefix} ${digest(place.call)} -->`;
  }

  /**
   * Writes an entry to the comment. Creates the comment if it does not exist.
   *
   * A note replaces the run's earlier note. A job replaces every entry of its run and, unless
   * `keepsEarlier` is set, the entries of all earlier runs. The comment keeps at most
   * {@link MAX_ENTRIES} entries, and always the latest job.
   *
   * @throws {CommentError} if the comment cannot be read or written
   */
  async write(entry: Entry, signal?: AbortSignal): Promise<void> {
    this.#signal = signal;
    try {
      await this.#write(entry);
    } catch (error) {
      throw error instanceof GithubError ? new CommentError(error) : error;
    }
  }

  async #write(entry: Entry): Promise<void> {
    const { repository, number } = this.#place;
    // Read the comment every time, because another run may have changed it.
    const found = (await this.#readPrevious()) ?? (await this.#find());
    this.#id = found?.id;
    if (this.#yieldsTo(found?.body ?? "")) return;
    const body = this.#compose(found?.body ?? "", entry);
    if (this.#id !== undefined) {
      const target = `/repos/${repository}/issues/comments/${this.#id}`;
      await this.#call("PATCH", target, { body });
      return;
    }
    const target = `/repos/${repository}/issues/${number}/comments`;
    this.#id = ((await this.#call("POST", target, { body })) as Comment).id;
  }

  /** Returns whether a later run has reported its result. The ids of runs increase. */
  #yieldsTo(body: string): boolean {
    const { run, yieldsToLater } = this.#place;
    const isLater = (entry: StoredEntry) => entry.kind === "job" && Number(entry.run) > Number(run);
    return yieldsToLater && parseEntries(body).some(isLater);
  }

  #compose(body: string, { kind, markdown }: Entry): string {
    const { run, keepsEarlier } = this.#place;
    const isReplaced = (other: StoredEntry): boolean => {
      if (kind === "note") return other.kind === "note" && other.run === run;
      return other.run === run || (!keepsEarlier && Number(other.run) < Number(run));
    };
    const kept = parseEntries(body).filter((other) => !isReplaced(other));
    const entries = [...limitEntries(kept), { kind, run, markdown }];
    const texts = entries.map((entry) => {
      return `<!-- quillgate-${entry.kind} ${entry.run} -->\n${entry.markdown}`;
    });
    return `${this.#marker}\n${texts.join("\n\n")}`;
  }

  /** Returns the comment of the previous {@link write}, unless another call has it or it was deleted. */
  async #readPrevious(): Promise<Comment | undefined> {
    if (this.#id === undefined) return undefined;
    const target = `/repos/${this.#place.repository}/issues/comments/${this.#id}`;
    try {
      const comment = (await this.#call("GET", target)) as Comment;
      return this.#hasMarker(comment) ? comment : undefined;
    } catch (error) {
      if (error instanceof GithubError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Returns the call's comment, or else the step's first comment without an entry of this run. */
  async #find(): Promise<Comment | undefined> {
    const { repository, number, run } = this.#place;
    let earlier: Comment | undefined;
    for (let page = 1; page <= MAX_PAGES; page++) {
      const query = `per_page=${PER_PAGE}&page=${page}`;
      const target = `/repos/${repository}/issues/${number}/comments?${query}`;
      const comments = (await this.#call("GET", target)) as Comment[];
      for (const comment of comments) {
        if (!(await this.#isOwn(comment))) continue;
        if (this.#hasMarker(comment)) return comment;
        if (!parseEntries(comment.body ?? "").some((entry) => entry.run === run))
          earlier ??= comment;
      }
      if (comments.length < PER_PAGE) break;
    }
    return earlier;
  }

  /** Returns whether the comment is this call's. Users can edit everything around the marker. */
  #hasMarker({ body }: Comment): boolean {
    return body?.split(/\r?\n/).includes(this.#marker) ?? false;
  }

  /**
   * Returns whether the token's user or a bot wrote the comment. The marker alone proves nothing,
   * because anyone can copy it.
   */
  async #isOwn({ body, user }: Comment): Promise<boolean> {
    const lines = body?.split(/\r?\n/) ?? [];
    if (!lines.some((line) => line.startsWith(this.#prefix))) return false;
    // Accept any bot: workflow and GitHub App tokens belong to a bot, and cannot call `GET /user`.
    if (user?.type === "Bot") return true;
    const self = await this.#call("GET", "/user").catch(() => undefined);
    return user?.id !== undefined && (self as { id?: number } | undefined)?.id === user.id;
  }

  #call(method: string, target: string, content?: unknown): Promise<unknown> {
    return callGithub(this.#place, method, target, { content, signal: this.#signal });
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
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

/** Removes old entries to make room for a new one. The latest job always stays. */
function limitEntries(entries: StoredEntry[]): StoredEntry[] {
  if (entries.length < MAX_ENTRIES) return entries;
  const job = entries.findLast(({ kind }) => kind === "job");
  const last = entries.slice(1 - MAX_ENTRIES);
  return job === undefined || last.includes(job) ? last : [job, ...last.slice(1)];
}
