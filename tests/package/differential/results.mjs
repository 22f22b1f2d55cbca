/** Bodies of successes: as promised, and wrong at any member and depth. */

/** `?` may be `null` or missing. */
const RECORDS = {
  source: { repository: "text?", ref: "text?" },
  job: {
    ...{ id: "text?", status: "status?", source: "source?", model: "text?", prLink: "text?" },
    ...{ createdAt: "text?", archivedAt: "text?" },
  },
  listedJob: {
    ...{ id: "text", status: "status?", prompt: "text?", createdBy: "text?", createdAt: "text?" },
    ...{ prLink: "text?", checkedAt: "text?" },
  },
  jobs: { jobs: ["listedJob"], nextCursor: "text?" },
  counts: { human: "count?", ai: "count?", total: "count?" },
  view: { path: "text?", human: "count?", ai: "count?", total: "count?" },
  views: { totals: "counts", views: ["view"], hasMore: "flag" },
  visitors: { totals: "counts", visitors: ["view"], hasMore: "flag" },
  entry: {
    ...{
      id: "text?",
      path: "text?",
      comment: "text?",
      createdAt: "text?",
      source: "feedbackSource",
    },
    ...{ status: "text?", helpful: "flag?", contact: "text?", code: "text?", filename: "text?" },
    lang: "text?",
  },
  feedback: { feedback: ["entry"], nextCursor: "text?", hasMore: "flag" },
  pageFeedback: {
    ...{ path: "text?", thumbsUp: "count?", thumbsDown: "count?", code: "count?", total: "count?" },
  },
  feedbackByPage: { feedback: ["pageFeedback"], hasMore: "flag" },
  term: {
    ...{ searchQuery: "text?", hits: "count?", ctr: "number?", topClickedPage: "text?" },
    lastSearchedAt: "text?",
  },
  searches: { searches: ["term"], totalSearches: "count?", nextCursor: "text?" },
  link: { title: "text?", url: "text?" },
  chat: {
    ...{
      id: "text?",
      timestamp: "text?",
      query: "text?",
      response: "text?",
      responseType: "text?",
    },
    ...{ sources: ["link"], resolutionStatus: "text?", queryCategory: "text?", pageUrl: "text?" },
  },
  conversations: { conversations: ["chat"], nextCursor: "ulid?", hasMore: "flag" },
  message: { id: "text?", role: "text?", content: "text?", createdAt: "text?" },
  conversation: { threadId: "text?", createdAt: "text?", messages: ["message"] },
  callerStats: { web: "count?", api: "count?", other: "count?", total: "count?" },
};

export const STATUSES = ["active", "active", "completed", "archived", "failed"];

const SCALARS = {
  text: (random) =>
    random.pick(["text", "", "a/b", "2024-01-01T00:00:00Z", "ü🦉", "\ud800", "\u0000\n"]),
  ulid: () => "01J9Z3K4M5N6P7Q8R9S0T1V2W3",
  status: (random) => random.pick([...STATUSES, "queued", "", "Completed", "\ud800", "toString"]),
  feedbackSource: (random) =>
    random.pick(["contextual", "code_snippet", "agent", "thumbs_only", "another", "toString"]),
  count: (random) => random.pick([0, 1, 17, 250, 12_345, Number.MAX_SAFE_INTEGER]),
  number: (random) => random.pick([0, 1, 0.25, -3.5, 1e-7, 1e300]),
  flag: (random) => random.chance(0.5),
};

/** Whatever JSON can hold in a place where something else is promised. */
const WRONG = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    2 ** 53,
    1e300,
    "",
    "1",
    "text",
    [],
    [1],
    {},
    { source: "agent" },
  ],
  ...[[null], [[]], { length: 1 }, "9007199254740991", -0.0, [{}], { id: 1 }],
];

/** A record of this name. */
export function makeRecord(random, name) {
  const record = {};
  for (const [member, kind] of Object.entries(RECORDS[name])) {
    if (Array.isArray(kind)) {
      record[member] = random.several(0, 4, () => makeRecord(random, kind[0]));
      continue;
    }
    const type = kind.replace("?", "");
    if (type !== kind && random.chance(0.25)) {
      if (random.chance(0.5)) record[member] = null;
      continue;
    }
    record[member] = RECORDS[type] ? makeRecord(random, type) : SCALARS[type](random);
  }
  return record;
}

/** The member that holds a list's rows, and the name of a row's record. */
export function rowsOf(name) {
  const [member, [row]] = Object.entries(RECORDS[name]).find(([, kind]) => Array.isArray(kind));
  return { member, row };
}

/** A body as JSON text, with this many mistakes in it. */
export function makeBody(random, name, mistakes = 0) {
  const body = makeRecord(random, name);
  if (mistakes > 0 && random.chance(0.25)) return random.pick(NOT_THE_RESULT);
  for (let made = 0; made < mistakes; made++) makeWrong(random, body);
  if (random.chance(0.2)) addUnknown(random, body);
  return JSON.stringify(body);
}

function makeWrong(random, body) {
  const places = placesOf(body);
  if (places.length === 0) return;
  const [holder, name] = random.pick(places.map((place) => () => place));
  if (random.chance(0.2) && !Array.isArray(holder)) delete holder[name];
  else holder[name] = random.pick(WRONG);
}

function addUnknown(random, body) {
  const holders = [body, ...placesOf(body).map(([holder]) => holder)];
  const holder = random.pick(holders.map((each) => () => each));
  if (Array.isArray(holder)) return;
  const name = random.pick([
    "extra",
    "then",
    "toString",
    "nextPage",
    "cursor",
    "offset",
    "__proto__",
  ]);
  Object.defineProperty(holder, name, {
    value: random.pick(WRONG),
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** Every member and element, with what holds it. */
function placesOf(value) {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((name) => [[value, name], ...placesOf(value[name])]);
}

export const NOT_THE_RESULT = [
  ...[
    "",
    " ",
    "null",
    "true",
    "5",
    '"text"',
    "[]",
    "[[]]",
    "{}",
    "{",
    '{"id":',
    "<html>no</html>",
    "undefined",
  ],
  ...[
    "NaN",
    "{'id': 1}",
    '{"id":"x"}x',
    '{"id":"x",}',
    '\ufeff{"id":"x"}',
    "\ufeff",
    '{"id":"\\ud800"}',
  ],
  ...[
    '{"views":[{"human":1e400}],"totals":{},"hasMore":false}',
    '{"id":"a","id":7}',
    "01",
    "\u0000",
    "[1,2",
  ],
];
