/** Lists whose pages a scripted server returns, and every way to read them. */
import { queryOf } from "./scripted_server.mjs";

export const ANALYTICS = "/v1/analytics/acme";
export const RANGE = { dateFrom: "2024-01-01", dateTo: "2024-03-01" };
export const ROWS = 620;

const BY_OFFSET = { by: "offset", maxRows: 250, name: "path", base: { totals: {} } };
const BY_CURSOR = { by: "cursor", maxRows: 100, name: "id", base: {} };

function makeReport(rows, more) {
  return {
    list: ({ analytics }, ...args) => analytics[rows](...args),
    path: `${ANALYTICS}/${rows}`,
    ...{ rows, defaultRows: 50, hasMore: true, range: true, ...more },
  };
}

/** Per list: its path, paging, page sizes, the identifying property, and the rest of a page. */
export const LISTS = {
  views: makeReport("views", BY_OFFSET),
  visitors: makeReport("visitors", BY_OFFSET),
  feedback: makeReport("feedback", BY_CURSOR),
  searches: {
    ...makeReport("searches", BY_CURSOR),
    ...{ name: "searchQuery", base: { totalSearches: ROWS }, hasMore: false },
  },
  conversations: {
    ...makeReport("conversations", BY_CURSOR),
    ...{ path: `${ANALYTICS}/assistant`, defaultRows: 100, maxRows: 1000 },
  },
  jobs: {
    list: ({ agentJobs }, ...args) => agentJobs.list(...args),
    path: "/v2/agent/acme/jobs",
    ...{ rows: "jobs", by: "cursor", defaultRows: 25, maxRows: 100 },
    ...{ name: "id", base: {}, hasMore: false, range: false },
  },
};
export const NAMES = Object.keys(LISTS);

export const rowOf = (list, at) => ({
  [list.name]: `r${at}`,
  ...(list.rows === "feedback" ? { source: "agent" } : {}),
});

/** Returns a cursor after `at` rows: a ULID, or a string that needs encoding. */
export const cursorOf = (list, at) =>
  list.rows === "conversations" ? `01ARZ3NDEKTSV4RRFF${String(at).padStart(8, "0")}` : `é/${at}+=&`;

export const rowsBefore = (cursor) => Number(/(\d+)(?:\+=&)?$/.exec(cursor.slice(-10))[1]);

export function pageOf(list, total = ROWS) {
  return (received) => {
    const query = queryOf(received);
    const cursor = query.get("cursor");
    const from = cursor === null ? Number(query.get("offset") ?? 0) : rowsBefore(cursor);
    const to = Math.min(total, from + Number(query.get("limit") ?? list.defaultRows));
    const rows = Array.from({ length: Math.max(0, to - from) }, (_, at) => rowOf(list, from + at));
    const next = list.by === "cursor" && { nextCursor: to < total ? cursorOf(list, to) : null };
    const more = list.hasMore && { hasMore: to < total };
    return { json: { ...list.base, [list.rows]: rows, ...next, ...more } };
  };
}

export async function collect(iterable) {
  const all = [];
  for await (const each of iterable) all.push(each);
  return all;
}

export const WAYS = {
  "for await": (list) => collect(list),
  "pages()": async (list, { rows }) => (await collect(list.pages())).flatMap((page) => page[rows]),
  "all()": (list) => list.all(),
  "nextPage()": async (list, { rows }) => {
    const read = [];
    for (let page = await list; page !== null; page = await page.nextPage())
      read.push(...page[rows]);
    return read;
  },
};

export const namesOf = ({ name }, rows) => rows.map((row) => row[name]);
export const namesFrom = (from, to = ROWS) =>
  Array.from({ length: to - from }, (_, at) => `r${from + at}`);

export function pagingOf(received) {
  const query = queryOf(received);
  const names = ["limit", "offset", "cursor"].filter((name) => query.has(name));
  return Object.fromEntries(names.map((name) => [name, query.get(name)]));
}
