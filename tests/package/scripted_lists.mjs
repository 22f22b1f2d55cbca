/** Lists whose pages a scripted server returns, and every way to read them. */
import { queryOf } from "./scripted_server.mjs";

export const ANALYTICS = "/v1/analytics/acme";
export const RANGE = { dateFrom: "2024-01-01", dateTo: "2024-03-01" };
export const ROWS = 620;

/** Per list: its path, paging, page sizes, the identifying property, and the rest of a page. */
export const LISTS = {
  views: {
    list: ({ analytics }, ...args) => analytics.views(...args),
    path: `${ANALYTICS}/views`,
    ...{ rows: "views", by: "offset", defaultRows: 50, maxRows: 250 },
    ...{ name: "path", base: { totals: {} }, hasMore: true, range: true },
  },
  visitors: {
    list: ({ analytics }, ...args) => analytics.visitors(...args),
    path: `${ANALYTICS}/visitors`,
    ...{ rows: "visitors", by: "offset", defaultRows: 50, maxRows: 250 },
    ...{ name: "path", base: { totals: {} }, hasMore: true, range: true },
  },
  feedback: {
    list: ({ analytics }, ...args) => analytics.feedback(...args),
    path: `${ANALYTICS}/feedback`,
    ...{ rows: "feedback", by: "cursor", defaultRows: 50, maxRows: 100 },
    ...{ name: "id", base: {}, hasMore: true, range: true },
  },
  searches: {
    list: ({ analytics }, ...args) => analytics.searches(...args),
    path: `${ANALYTICS}/searches`,
    ...{ rows: "searches", by: "cursor", defaultRows: 50, maxRows: 100 },
    ...{ name: "searchQuery", base: { totalSearches: ROWS }, hasMore: false, range: true },
  },
  conversations: {
    list: ({ analytics }, ...args) => analytics.conversations(...args),
    path: `${ANALYTICS}/assistant`,
    ...{ rows: "conversations", by: "cursor", defaultRows: 100, maxRows: 1000 },
    ...{ name: "id", base: {}, hasMore: true, range: true },
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
  return Object.fromEntries(
    ["limit", "offset", "cursor"].flatMap((name) =>
      query.has(name) ? [[name, query.get(name)]] : [],
    ),
  );
}
