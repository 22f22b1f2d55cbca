/**
 * The facts about Mintlify's API that `quillgate doctor --live` checks. `docs/platform.md` states
 * each in the section named here.
 */

import { readPullRequest } from "../values.js";
import type { RequestName, Seen, Target } from "./live_requests.js";
import { describeProperty, describeValue, listUndocumented } from "./live_shape.js";

/** Whether the responses show what a fact says. */
export type Verdict = "confirmed" | "contradicted" | "not seen";

export interface Judgment {
  verdict: Verdict;
  /** The observation, without values. */
  found: string;
}

interface Fact {
  /** The section of `docs/platform.md`. */
  section: string;
  text: string;
  judge(responses: Responses): Judgment;
}

export interface JudgedFact extends Judgment {
  section: string;
  text: string;
}

/** Fewer rows prove nothing about a scale or about typed beginnings. */
const ENOUGH_ROWS = 20;

/** The settings whose form is a fact too. */
export type Identifiers = Pick<Target, "projectId" | "adminKey">;

/** The settings, and access to the responses by name. */
class Responses {
  readonly all: readonly Seen[];
  readonly identifiers: Identifiers;

  constructor(all: readonly Seen[], identifiers: Identifiers) {
    this.all = all;
    this.identifiers = identifiers;
  }

  find(name: RequestName): Seen | undefined {
    return this.all.find((seen) => seen.name === name);
  }

  /** Returns the body of a 2xx response; an empty object without one. */
  body(name: RequestName): Record<string, unknown> {
    const seen = this.find(name);
    if (!isSuccess(seen) || typeof seen?.body !== "object" || seen.body === null) return {};
    return seen.body as Record<string, unknown>;
  }

  rows(name: RequestName, list: string): Record<string, unknown>[] {
    const rows = this.body(name)[list];
    if (!Array.isArray(rows)) return [];
    return rows.filter((row) => typeof row === "object" && row !== null);
  }

  values(name: RequestName, list: string, property: string): unknown[] {
    return this.rows(name, list)
      .map((row) => row[property])
      .filter((value) => value !== undefined);
  }
}

/** Compares the responses with each fact. */
export function judgeFacts(seen: readonly Seen[], identifiers: Identifiers): JudgedFact[] {
  const responses = new Responses(seen, identifiers);
  return FACTS.map(({ section, text, judge }) => ({ section, text, ...judge(responses) }));
}

const FACTS: readonly Fact[] = [
  {
    section: "4",
    text: "a project id has 24 hexadecimal digits",
    judge: ({ identifiers }) => {
      const format = describeValue(identifiers.projectId);
      return format === "24 hexadecimal digits" ? confirmed(format) : contradicted("another form");
    },
  },
  {
    section: "5.11",
    text: "an admin key has 22 or 24 letters and digits after `mint_`",
    judge: ({ identifiers }) =>
      /^mint_(?:[a-z\d]{22}|[a-z\d]{24})$/i.test(identifiers.adminKey)
        ? confirmed("that form")
        : contradicted("another form"),
  },
  {
    section: "5.9",
    text: "the network in front of Mintlify lets quillgate's User-Agent pass",
    judge: ({ all }) => {
      const blocked = all.filter(isBlocked).length;
      if (blocked > 0) return contradicted(`${blocked} responses are a 403 that is not JSON`);
      return all.some(isSuccess) ? confirmed("requests succeed") : notSeen("no request succeeds");
    },
  },
  {
    section: "5.8",
    text: "a plan without the operation gets 401, and `error` asks for an upgrade",
    judge: ({ all }) => {
      const statuses = all.filter(asksForUpgrade).map(({ status }) => status);
      if (statuses.length === 0) return notSeen("no response asks for an upgrade");
      const found = `a response with ${list(statuses)} asks for an upgrade`;
      return statuses.every((status) => status === 401) ? confirmed(found) : contradicted(found);
    },
  },
  counts("4.2", "counts of page views are integers", "views", "views", ["human", "ai", "total"]),
  formats("4.2", "paths of page views begin with a slash", "views", "views", "path", ["path"]),
  {
    section: "4.2",
    text: "`total` of page views is the sum of `human` and `ai`",
    judge: (responses) => {
      const rows = responses.rows("views", "views");
      const differing = rows.filter(
        ({ human, ai, total }) => Number(human) + Number(ai) !== Number(total),
      );
      return ofRows(rows.length, differing.length, "have another total");
    },
  },
  occurrence("4.6.2", "paths of feedback can be URLs", "feedback", "feedback", "path", "URL"),
  {
    section: "4.6.2",
    text: "paths of feedback can lack the first slash or be empty",
    judge: (responses) => {
      const paths = responses.values("feedback", "feedback", "path");
      const bare = paths.filter((path) => typeof path === "string" && !/^(\/|https?:)/i.test(path));
      return ofOccurrences(paths.length, bare.length, "lack it");
    },
  },
  occurrence(
    "4.6.5",
    "`createdAt` of feedback can be null",
    "feedback",
    "feedback",
    "createdAt",
    "null",
  ),
  {
    section: "4.6.6",
    text: "a site that does not collect feedback gets empty reports",
    judge: (responses) => {
      if (!isSuccess(responses.find("feedback"))) return notSeen("no response");
      const { length } = responses.rows("feedback", "feedback");
      return length > 0 ? notSeen("there is feedback") : confirmed("the report is empty");
    },
  },
  {
    section: "4.8.1",
    text: "`ctr` is a percentage from 0 to 100",
    judge: (responses) => judgeRates(responses.values("searches", "searches", "ctr")),
  },
  {
    section: "4.8.2",
    text: "search terms contain the beginnings of others, as readers type",
    judge: (responses) => judgeTerms(responses.values("searches", "searches", "searchQuery")),
  },
  {
    section: "4.8.3",
    text: "terms that differ only in case are one row",
    judge: (responses) => {
      const terms = texts(responses.values("searches", "searches", "searchQuery"));
      const folded = new Set(terms.map((term) => term.toLowerCase()));
      return ofRows(terms.length, terms.length - folded.size, "repeat another in another case");
    },
  },
  {
    section: "4.8",
    text: "searches are sorted by `hits`, the most frequent first",
    judge: (responses) => {
      const hits = responses.values("searches", "searches", "hits").map(Number);
      const rising = hits.filter((count, at) => at > 0 && count > (hits[at - 1] ?? count));
      return ofRows(
        Math.max(0, hits.length - 1),
        rising.length,
        "have more hits than the one before",
      );
    },
  },
  {
    section: "7.7",
    text: "a `nextCursor` can be a URL",
    judge: ({ all }) => {
      const cursors = all
        .map(({ body }) => (body as { nextCursor?: unknown } | null | undefined)?.nextCursor)
        .filter((cursor) => typeof cursor === "string");
      const urls = cursors.filter((cursor) => describeValue(cursor) === "URL");
      return ofOccurrences(cursors.length, urls.length, "are URLs", "cursors");
    },
  },
  {
    section: "7.6",
    text: "a cursor with dates can get 414, and the cursor alone continues the list",
    judge: (responses) => {
      const second = responses.find("searches, second page");
      if (second === undefined) return notSeen("there was no second page");
      if (second.status !== 414) return notSeen(`the second page gets ${second.status}`);
      const alone = responses.find("searches, by cursor alone");
      const found = `with dates ${second.status}, alone ${alone?.status}`;
      return isSuccess(alone) ? confirmed(found) : contradicted(found);
    },
  },
  {
    section: "4.9.2",
    text: "several turns of a conversation share an `id`",
    judge: (responses) => {
      const ids = responses.values("conversations", "conversations", "id");
      return ofOccurrences(ids.length, ids.length - new Set(ids).size, "repeat an id");
    },
  },
  {
    section: "4.9.2",
    text: "`id` and `timestamp` together identify a turn",
    judge: (responses) => {
      const rows = responses.rows("conversations", "conversations");
      const keys = rows.map(({ id, timestamp }) => JSON.stringify([id, timestamp]));
      return ofRows(keys.length, keys.length - new Set(keys).size, "repeat both");
    },
  },
  formats("4.9", "ids of conversations are ULIDs", "conversations", "conversations", "id", [
    "ULID",
  ]),
  occurrence(
    "4.9.5",
    "a turn can have `feedback`",
    "conversations",
    "conversations",
    "feedback",
    "“positive”",
    "“negative”",
    "null",
  ),
  times(
    "4.9.3",
    "times of conversations are in UTC and say so",
    "conversations",
    "conversations",
    "timestamp",
  ),
  times("4.6", "times of feedback are in UTC and say so", "feedback", "feedback", "createdAt"),
  times("4.8", "times of searches are in UTC and say so", "searches", "searches", "lastSearchedAt"),
  {
    section: "4.11",
    text: "caller stats are integers",
    judge: (responses) => {
      const body = responses.body("caller stats");
      const values = ["web", "api", "other", "total"].flatMap((name) => body[name] ?? []);
      const others = values.filter((value) => describeValue(value) !== "integer");
      return ofRows(values.length, others.length, "are not integers", "values");
    },
  },
  {
    section: "11",
    text: "header fields name rate limits",
    judge: ({ all }) => {
      const names = all.flatMap(({ headers }) => [...headers.keys()]);
      const found = names.filter((name) => /rate-?limit|retry-after/.test(name));
      return found.length > 0 ? confirmed(list(found)) : notSeen("no response has one");
    },
  },
  {
    section: "9",
    text: "rows have only the documented properties",
    judge: (responses) => {
      const rows = [
        ...responses.rows("views", "views"),
        ...responses.rows("feedback", "feedback"),
        ...responses.rows("feedback by page", "feedback"),
        ...responses.rows("searches", "searches"),
        ...responses.rows("conversations", "conversations"),
      ];
      if (rows.length === 0) return notSeen("no rows");
      const names = listUndocumented(rows);
      return names.length === 0
        ? confirmed(`${rows.length} rows`)
        : contradicted(`also ${list(names)}`);
    },
  },
  {
    section: "4.3",
    text: "a job that does not exist gets 404 with `error`",
    judge: (responses) => {
      const seen = responses.find("job");
      if (seen?.status == null || isSuccess(seen)) return notSeen("no such response");
      const hasError = typeof (seen.body as { error?: unknown } | null)?.error === "string";
      const found = `${seen.status} ${hasError ? "with" : "without"} error`;
      return seen.status === 404 && hasError ? confirmed(found) : contradicted(found);
    },
  },
  {
    section: "2.1",
    text: "`source.repository` of a job is a full address",
    judge: (responses) => {
      const { source } = responses.body("job") as { source?: { repository?: unknown } | null };
      if (typeof source?.repository !== "string") return notSeen("no job was read");
      const format = describeValue(source.repository);
      return format === "URL" ? confirmed(format) : contradicted(format);
    },
  },
  {
    section: "2.1.3",
    text: "`prLink` of a job names a request of a known form",
    judge: (responses) => {
      const { prLink } = responses.body("job") as { prLink?: string | null };
      const request = readPullRequest(typeof prLink === "string" ? prLink : null);
      if (request === null) return notSeen("no pull request was read");
      const found = `a ${request.noun}`;
      return request.number === null ? contradicted("another form") : confirmed(found);
    },
  },
  {
    section: "2.1",
    text: "`createdAt` of a job is in UTC and says so",
    judge: (responses) => judgeTimes([responses.body("job").createdAt]),
  },
];

function counts(
  section: string,
  text: string,
  name: RequestName,
  list: string,
  properties: readonly string[],
): Fact {
  return {
    section,
    text,
    judge: (responses) => {
      const values = properties.flatMap((property) => responses.values(name, list, property));
      const others = values.filter((value) => describeValue(value) !== "integer");
      return ofRows(values.length, others.length, "are not integers", "values");
    },
  };
}

/** A fact about the format of every value of a property. */
function formats(
  section: string,
  text: string,
  name: RequestName,
  list: string,
  property: string,
  allowed: readonly string[],
): Fact {
  return {
    section,
    text,
    judge: (responses) => {
      const found = responses.values(name, list, property).map(describeValue);
      const others = found.filter((format) => !allowed.includes(format));
      return ofRows(
        found.length,
        others.length,
        `are ${[...new Set(others)].join(", ")}`,
        "values",
      );
    },
  };
}

/** A fact about formats that some values of a property have. */
function occurrence(
  section: string,
  text: string,
  name: RequestName,
  list: string,
  property: string,
  ...wanted: readonly string[]
): Fact {
  return {
    section,
    text,
    judge: (responses) => {
      const values = responses.values(name, list, property);
      const found = values.map((value) => describeProperty(property, value));
      const matching = found.filter((format) => wanted.includes(format));
      return ofOccurrences(found.length, matching.length, `are ${wanted.join(" or ")}`);
    },
  };
}

function times(
  section: string,
  text: string,
  name: RequestName,
  list: string,
  property: string,
): Fact {
  return {
    section,
    text,
    judge: (responses) => judgeTimes(responses.values(name, list, property)),
  };
}

function judgeTimes(values: readonly unknown[]): Judgment {
  const found = values.filter((value) => typeof value === "string").map(describeValue);
  const others = found.filter((format) => format !== "date-time in UTC");
  return ofRows(found.length, others.length, `are ${[...new Set(others)].join(", ")}`, "times");
}

/** Rates of a few clicks can be at most 1 on both scales, so the scale shows only in many rows. */
function judgeRates(values: readonly unknown[]): Judgment {
  const rates = values.filter((value) => typeof value === "number");
  if (rates.length === 0) return notSeen("no rates");
  const [min, max] = [Math.min(...rates), Math.max(...rates)].map((rate) => rate.toFixed(1));
  const found = `from ${min} to ${max} in ${rates.length} rows`;
  const clicked = rates.filter((rate) => rate > 0);
  if (rates.some((rate) => rate < 0 || rate > 100)) return contradicted(found);
  if (clicked.some((rate) => rate > 1)) return confirmed(found);
  return clicked.length < ENOUGH_ROWS ? notSeen(found) : contradicted(found);
}

function judgeTerms(values: readonly unknown[]): Judgment {
  const terms = texts(values).map((term) => term.toLowerCase());
  const begun = terms.filter((term) =>
    terms.some((other) => other.length > term.length && other.startsWith(term)),
  );
  const found = `${begun.length} of ${terms.length} terms are the beginning of another`;
  if (begun.length > 0) return confirmed(found);
  return terms.length < ENOUGH_ROWS ? notSeen(found) : contradicted(found);
}

function texts(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === "string");
}

/** Judges a fact about every row: `others` of `all` contradict it. */
function ofRows(all: number, others: number, what: string, noun = "rows"): Judgment {
  if (all === 0) return notSeen(`no ${noun}`);
  if (others === 0) return confirmed(`all of ${all} ${noun}`);
  return contradicted(`${others} of ${all} ${noun} ${what}`);
}

/** Judges a fact about what can occur. Its absence proves nothing. */
function ofOccurrences(all: number, matching: number, what: string, noun = "rows"): Judgment {
  const found = `${matching} of ${all} ${noun} ${what}`;
  return matching > 0 ? confirmed(found) : notSeen(all === 0 ? `no ${noun}` : found);
}

export function isSuccess(seen: Seen | undefined): boolean {
  return seen?.status != null && seen.status >= 200 && seen.status <= 299;
}

function isBlocked({ status, headers }: Seen): boolean {
  if (status !== 403) return false;
  const isJson = /json/i.test(headers.get("content-type") ?? "");
  return headers.get("cf-mitigated") !== null || !isJson;
}

function asksForUpgrade({ status, body }: Seen): boolean {
  const { error } = (body ?? {}) as { error?: unknown };
  return (status === 401 || status === 403) && typeof error === "string" && /upgrade/i.test(error);
}

function list(items: readonly (string | number | null)[]): string {
  return [...new Set(items)].join(", ");
}

function confirmed(found: string): Judgment {
  return { verdict: "confirmed", found };
}

function contradicted(found: string): Judgment {
  return { verdict: "contradicted", found };
}

function notSeen(found: string): Judgment {
  return { verdict: "not seen", found };
}
