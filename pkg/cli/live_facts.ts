/**
 * The facts about Mintlify's API that `quillgate doctor --live` checks. `docs/mintlify/` states
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
  /** The section in `docs/mintlify/`. */
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

  values(list: RequestName, property: string): unknown[] {
    return this.rows(list, list)
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
  about("4.2", "counts of page views are integers", "views.human,ai,total", areIntegers),
  about("4.2", "paths of page views begin with a slash", "views.path", have("path")),
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
  about("4.6.2", "paths of feedback can be URLs", "feedback.path", canHave("URL")),
  about(
    "4.6.2",
    "paths of feedback can lack the first slash or be empty",
    "feedback.path",
    (paths) => {
      const bare = texts(paths).filter((path) => !/^(\/|https?:)/i.test(path));
      return ofOccurrences(paths.length, bare.length, "lack it");
    },
  ),
  about("4.6.5", "`createdAt` of feedback can be null", "feedback.createdAt", canHave("null")),
  {
    section: "4.6.6",
    text: "a site that does not collect feedback gets empty reports",
    judge: (responses) => {
      if (!isSuccess(responses.find("feedback"))) return notSeen("no response");
      const { length } = responses.rows("feedback", "feedback");
      return length > 0 ? notSeen("there is feedback") : confirmed("the report is empty");
    },
  },
  about("4.8.1", "`ctr` is a percentage from 0 to 100", "searches.ctr", judgeRates),
  about(
    "4.8.2",
    "search terms contain the beginnings of others, as readers type",
    "searches.searchQuery",
    judgeTerms,
  ),
  about("4.8.3", "terms that differ only in case are one row", "searches.searchQuery", (values) => {
    const terms = texts(values).map((term) => term.toLowerCase());
    return ofRows(terms.length, countRepeated(terms), "repeat another in another case");
  }),
  about(
    "4.8",
    "searches are sorted by `hits`, the most frequent first",
    "searches.hits",
    (values) => {
      const pairs = values
        .slice(1)
        .map((count, at) => [Number(values[at]), Number(count)] as const);
      const rising = pairs.filter(([before, count]) => count > before);
      return ofRows(pairs.length, rising.length, "have more hits than the one before");
    },
  ),
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
  about("4.9.2", "several turns of a conversation share an `id`", "conversations.id", (ids) =>
    ofOccurrences(ids.length, countRepeated(ids), "repeat an id"),
  ),
  {
    section: "4.9.2",
    text: "`id` and `timestamp` together identify a turn",
    judge: (responses) => {
      const rows = responses.rows("conversations", "conversations");
      const keys = rows.map(({ id, timestamp }) => JSON.stringify([id, timestamp]));
      return ofRows(keys.length, countRepeated(keys), "repeat both");
    },
  },
  about("4.9", "ids of conversations are ULIDs", "conversations.id", have("ULID")),
  about(
    "4.9.5",
    "a turn can have `feedback`",
    "conversations.feedback",
    canHave("“positive”", "“negative”", "null"),
  ),
  about(
    "4.9.3",
    "times of conversations are in UTC and say so",
    "conversations.timestamp",
    judgeTimes,
  ),
  about("4.6", "times of feedback are in UTC and say so", "feedback.createdAt", judgeTimes),
  about("4.8", "times of searches are in UTC and say so", "searches.lastSearchedAt", judgeTimes),
  {
    section: "4.11",
    text: "caller stats are integers",
    judge: (responses) => {
      const body = responses.body("caller stats");
      return areIntegers(["web", "api", "other", "total"].flatMap((name) => body[name] ?? []));
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

/**
 * A fact about the values of a property.
 *
 * @param path the list, which is also the name of its request, and the properties, separated by commas
 */
function about(
  section: string,
  text: string,
  path: string,
  judge: (values: readonly unknown[], property: string) => Judgment,
): Fact {
  const [name, properties] = path.split(".") as [RequestName, string];
  return {
    section,
    text,
    judge: (responses) => {
      const values = properties.split(",").flatMap((each) => responses.values(name, each));
      return judge(values, properties);
    },
  };
}

function areIntegers(values: readonly unknown[]): Judgment {
  const others = values.filter((value) => describeValue(value) !== "integer");
  return ofRows(values.length, others.length, "are not integers", "values");
}

/** Judges a fact about the format of every value. */
function have(format: string, noun = "values") {
  return (values: readonly unknown[]): Judgment => {
    const others = values.map(describeValue).filter((found) => found !== format);
    return ofRows(values.length, others.length, `are ${list(others)}`, noun);
  };
}

/** Judges a fact about formats that some values have. */
function canHave(...wanted: readonly string[]) {
  return (values: readonly unknown[], property: string): Judgment => {
    const found = values.map((value) => describeProperty(property, value));
    const matching = found.filter((format) => wanted.includes(format));
    return ofOccurrences(found.length, matching.length, `are ${wanted.join(" or ")}`);
  };
}

function countRepeated(values: readonly unknown[]): number {
  return values.length - new Set(values).size;
}

function judgeTimes(values: readonly unknown[]): Judgment {
  return have("date-time in UTC", "times")(texts(values));
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
