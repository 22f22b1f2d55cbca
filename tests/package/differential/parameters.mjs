/** Parameters of every operation, as they should be and as they should not. */

const DATES = { dateFrom: "date", dateTo: "date" };

/**
 * What each operation takes, by the kinds below, and the name of its result in `results.mjs`. A list
 * says by what it is paged.
 */
export const OPERATIONS = {
  "agentJobs.create": { params: { prompt: "text" }, result: "job", writes: true },
  "agentJobs.get": { params: { id: "id" }, result: "job" },
  "agentJobs.sendMessage": { params: { id: "id", prompt: "text" }, result: "job", writes: true },
  "agentJobs.list": {
    params: { limit: ["integer", 1, 100], cursor: "text" },
    result: "jobs",
    list: { by: "cursor", most: 100 },
  },
  "analytics.views": {
    params: { ...DATES, limit: ["integer", 1, 250], offset: ["integer", 0], page: ["integer", 1] },
    result: "views",
    list: { by: "offset", most: 250 },
  },
  "analytics.visitors": {
    params: { ...DATES, limit: ["integer", 1, 250], offset: ["integer", 0], page: ["integer", 1] },
    result: "visitors",
    list: { by: "offset", most: 250 },
  },
  "analytics.feedback": {
    params: {
      ...DATES,
      source: "source",
      status: "text",
      limit: ["integer", 1, 100],
      cursor: "text",
    },
    result: "feedback",
    list: { by: "cursor", most: 100 },
  },
  "analytics.feedbackByPage": {
    params: { ...DATES, limit: ["integer", 1, 100], source: "source", status: "text" },
    result: "feedbackByPage",
  },
  "analytics.searches": {
    params: { ...DATES, limit: ["integer", 1, 100], cursor: "text" },
    result: "searches",
    list: { by: "cursor", most: 100 },
  },
  "analytics.conversations": {
    params: { ...DATES, limit: ["integer", 1, 1000], cursor: "ulid" },
    result: "conversations",
    list: { by: "cursor", most: 1000 },
  },
  "analytics.conversation": { params: { threadId: "ulid" }, result: "conversation" },
  "analytics.callerStats": { params: DATES, result: "callerStats" },
  "pageViews.list": {
    params: { ...DATES, limit: ["integer", 1, 250], offset: ["integer", 0], page: ["integer", 1] },
    result: "views",
    list: { by: "offset", most: 250 },
  },
};

/** Names that only `buildRequest` takes, and names that nothing has. */
export const OTHER_NAMES = [
  ...["agentJobs.events", "agentJobs.deleteRecord"],
  ...["", "agentJobs", "agentJobs.", "analytics.view", "views", "toString", "__proto__"],
  ...["constructor", "agentJobs.create ", "AgentJobs.create", "agentJobs\u0000create", "\ud800"],
  { $: "repeat", text: "agentJobs.", times: 500 },
];

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const SOURCES = ["code_snippet", "contextual", "agent", "thumbs_only"];
export const MISTYPED = [
  ...[null, true, false, 0, 7, "", "text", [], ["text"], {}, { id: "x" }],
  ...["nan", "infinity", "bigint", "symbol", "function", "date", "map"].map(($) => ({ $ })),
  { $: "text object", text: "2024-01-01" },
  { $: "number object", number: 5 },
];

/** A character or a run of them that encoders and URL parsers trip over. */
export const ODD_TEXTS = [
  ...[
    "ü",
    "日本語",
    "🦉",
    "e\u0301",
    "\u202eright",
    "\u2028",
    "\ufeff",
    "\ufffd",
    "\ud800",
    "\udc00x",
  ],
  ...["\ud83d", "\u0000", "\u0001", "\b\f\n\r\t", "\u001f", "\u007f", "\u0085", "\u009f", "\u00a0"],
  ...['"', "\\", '\\"', "/", "//", "?", "#", "%", "%2e", "%2e%2e", "%00", "&", "=", "+", " ", ";"],
  ...["<script>", "{projectId}", "{id}", "'", "`", "~", "!*()", "@:", "|^[]", ".", "..", "..."],
  ...["null", "undefined", "true", "__proto__"],
];

function pad(number, width) {
  return String(number).padStart(width, "0");
}

function makeDay(random) {
  const year = random.weigh([
    [8, (at) => at.integer(2023, 2026)],
    [1, (at) => at.integer(0, 9999)],
    [1, () => 2024],
  ]);
  const month = random.integer(1, 12);
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(random.integer(1, 28), 2)}`;
}

function makeTime(random) {
  const { integer, chance } = bind(random);
  let time = `${pad(integer(0, 23), 2)}:${pad(integer(0, 59), 2)}`;
  if (chance(0.7)) {
    time += `:${pad(integer(0, 59), 2)}`;
    if (chance(0.6)) time += `.${pad(integer(0, 999_999_999), 9).slice(0, integer(1, 9))}`;
  }
  return time + random.pick(["", "Z", "Z", "Z", makeOffset]);
}

function makeOffset(random) {
  const sign = random.pick(["+", "-"]);
  return `${sign}${pad(random.integer(0, 23), 2)}:${pad(random.integer(0, 59), 2)}`;
}

function bind(random) {
  return { integer: random.integer.bind(random), chance: random.chance.bind(random) };
}

const BAD_DATES = [
  ...[
    "",
    "now",
    "yesterday",
    "2024",
    "2024-01",
    "2024-1-1",
    "24-01-01",
    "02024-01-01",
    "+2024-01-01",
  ],
  ...[
    "2024-02-30",
    "2023-02-29",
    "1900-02-29",
    "2024-13-01",
    "2024-00-10",
    "2024-04-31",
    "2024-01-00",
  ],
  ...["0000-00-00", "2024-01-32", "2024-01-01T", "2024-01-01T1:00", "2024-01-01T24:00"],
  ...["2024-01-01T23:60", "2024-01-01T23:59:60", "2024-01-01T23:59:60Z", "2024-01-01T12:00:00."],
  ...["2024-01-01T12:00:00.Z", "2024-01-01T12", "2024-01-01T1200", "2024-01-01 12:00"],
  ...["2024-01-01t12:00z", "2024-01-01T12:00z", "2024-01-01T12:00+24:00", "2024-01-01T12:00+01:60"],
  ...["2024-01-01T12:00+0100", "2024-01-01T12:00+01", "2024-01-01T12:00-", "2024-01-01T12:00Z "],
  ...[
    " 2024-01-01",
    "2024-01-01 ",
    "2024/01/01",
    "20240101",
    "٢٠٢٤-٠١-٠١",
    "2024-01-01T12:00:00,5Z",
  ],
  ...["2024-02-30T25:61:61+99:99", "2024-W01-1", "2024-001", "1e3-01-01", "2024-01-01T12:00ZZ"],
  ...[
    "2024-01-0१",
    "２０２４-01-01",
    "2024–01–01",
    "\u00002024-01-01",
    "Thu, 01 Jan 2024 00:00:00 GMT",
  ],
  "2024-01-01T00:00:00.000Z and much more of it than a quotation shows 🦉🦉🦉",
  "🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉🦉",
  "\u0000\u001f\u007f\u0085 control characters \ud800",
];
/** Days and times that only just exist. */
const EDGE_DATES = [
  ...[
    "2024-02-29",
    "2000-02-29",
    "0000-01-01",
    "0000-02-29",
    "9999-12-31",
    "1970-01-01",
    "1969-12-31",
  ],
  ...["0000-01-01T00:00+23:59", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59-23:59"],
  ...["2024-12-31T23:59:59.9999999999999999999Z", "1970-01-01T00:00Z", "2024-01-01T00:00-00:00"],
];

const GOOD = {
  text: (random) =>
    random.weigh([
      [6, () => random.pick(["Document the new endpoint", "a", "pending,resolved", "c-17", "x y"])],
      [4, () => random.several(1, 4, () => random.pick([...ODD_TEXTS, "word", "A"])).join("")],
      [
        0.3,
        () => ({
          $: "repeat",
          text: random.pick(["a", "ü", "🦉", "\n"]),
          times: random.integer(200, 3000),
        }),
      ],
    ]),
  id: (random) =>
    random.weigh([
      [6, () => random.pick(["job_1", "j", "01J9Z3K4M5N6P7Q8R9S0T1V2W3", "a-b_c.d~e"])],
      [4, () => `x${random.several(1, 3, () => random.pick(ODD_TEXTS)).join("")}`],
    ]),
  ulid: (random) => {
    const rest = random.several(25, 25, () => CROCKFORD[random.integer(0, 31)]).join("");
    const ulid = random.integer(0, 7) + rest;
    return random.chance(0.2) ? ulid.toLowerCase() : ulid;
  },
  date: (random) =>
    random.weigh([
      [5, makeDay],
      [5, () => `${makeDay(random)}T${makeTime(random)}`],
      [1, () => random.pick(EDGE_DATES)],
    ]),
  source: (random) => random.pick(SOURCES),
  integer: (random, least, most = Number.MAX_SAFE_INTEGER) =>
    random.weigh([
      [4, () => random.integer(least, Math.min(most, 60))],
      [2, () => random.integer(least, Math.min(most, 100_000))],
      [1, () => least],
      [1, () => most],
    ]),
};

const BAD = {
  text: (random) => random.pick(["", ...MISTYPED]),
  id: (random) => random.pick(["", ".", "..", ...MISTYPED]),
  ulid: (random) =>
    random.pick([
      ...[
        "",
        "01J9Z3K4M5N6P7Q8R9S0T1V2W",
        "01J9Z3K4M5N6P7Q8R9S0T1V2W33",
        "81J9Z3K4M5N6P7Q8R9S0T1V2W3",
      ],
      ...[
        "01J9Z3K4M5N6P7Q8R9S0T1V2WU",
        "O1J9Z3K4M5N6P7Q8R9S0T1V2W3",
        "01J9Z3K4M5N6P7Q8R9S0T1V2W ",
        "..",
      ],
      ...["\ud83e\udd8901J9Z3K4M5N6P7Q8R9S0T1V2", "01J9Z3K4M5N6P7Q8R9S0T1V2W/", ...MISTYPED],
      { $: "repeat", text: "0", times: 60 },
    ]),
  date: (random) => random.pick(random.chance(0.8) ? BAD_DATES : MISTYPED),
  source: (random) =>
    random.pick([
      ...[
        "",
        "Agent",
        "agent ",
        "thumbs",
        "code-snippet",
        "\u0000",
        "agent,contextual",
        ...MISTYPED,
      ],
      ...["a source with a name longer than any quotation", "🦉".repeat(40), "\ud800\u0007"],
    ]),
  integer: (random, least, most = Number.MAX_SAFE_INTEGER) =>
    random.pick([
      ...[
        least - 1,
        most + 1,
        -5,
        1.5,
        0.1,
        1e21,
        5e-324,
        2 ** 53,
        -(2 ** 53),
        2 ** 63,
        "10",
        "1e1",
      ],
      ...[
        { $: "-0" },
        { $: "-infinity" },
        most + 0.5,
        -1.5,
        1e15 + 0.5,
        2 ** 32,
        -(2 ** 31),
        ...MISTYPED,
      ],
    ]),
};

/** Names that operations do not have, some of which options do. */
const UNKNOWN_NAMES = [
  ...[
    "Limit",
    "limits",
    "datefrom",
    "projectId",
    "baseUrl",
    "adminKey",
    "token",
    "fetch",
    "timeout",
  ],
  ...[
    "signal",
    "headers",
    "toString",
    "constructor",
    "__proto__",
    "hasOwnProperty",
    "",
    " ",
    "0",
    "then",
  ],
  ...[
    "cursor",
    "limit",
    "offset",
    "page",
    "prompt",
    "id",
    "dateFrom",
    "source",
    "kind",
    "name\u0000",
  ],
  "a name that is longer than the thirty-two characters that are shown",
  ...["🦉".repeat(40), "\ud800", "ü\u0007\u009f", "$limit", "limit\n"],
];

/** One value for a parameter of this kind. */
export function makeArgument(random, kind, isGood) {
  const [name, ...bounds] = Array.isArray(kind) ? kind : [kind];
  return (isGood ? GOOD : BAD)[name](random, ...bounds);
}

/**
 * Parameters of an operation.
 *
 * @param {import("./random.mjs").Random} random
 * @param {string} operation
 * @param {number} mistakes about how many of them are wrong
 */
export function makeParams(random, operation, mistakes = 0) {
  const { params, list } = OPERATIONS[operation];
  const names = Object.keys(params);
  const isRequired = (name) => ["prompt", "id", "threadId"].includes(name);
  const given = {};
  for (const name of shuffle(random, names)) {
    if (!isRequired(name) && !random.chance(0.35)) continue;
    // They exclude each other.
    if (name === "page" && "offset" in given && mistakes === 0) continue;
    if (name === "offset" && "page" in given && mistakes === 0) continue;
    given[name] = makeArgument(random, params[name], true);
  }
  if ("dateFrom" in given && "dateTo" in given && random.chance(mistakes > 0 ? 0.5 : 0.9)) {
    orderDates(given);
  }
  for (let made = 0; made < mistakes; made++) makeMistake(random, given, names, params);
  // A cursor would begin a run elsewhere, and so does a large offset.
  if (mistakes === 0 && list !== undefined && random.chance(0.7)) {
    delete given.cursor;
    if (given.offset > 100_000) given.offset = random.integer(0, 50);
    if (given.page > 1000) delete given.page;
  }
  return given;
}

function orderDates(given) {
  const [from, to] = [given.dateFrom, given.dateTo].sort();
  given.dateFrom = from;
  given.dateTo = to;
}

function makeMistake(random, given, names, params) {
  const name = random.pick(names);
  random.weigh([
    [10, () => put(given, name, makeArgument(random, params[name], false))],
    [2, () => delete given[name]],
    [2, () => put(given, random.pick(UNKNOWN_NAMES), random.pick([1, "x", null, {}, []]))],
    [1, () => put(given, random.pick([...UNKNOWN_NAMES, name]), { $: "undefined" })],
    [1, () => put(given, name, makeArgument(random, random.pick(Object.values(params)), true))],
    [1, () => Object.assign(given, { page: 2, offset: 0 })],
    [
      1,
      () => {
        given.dateTo = given.dateFrom ?? "2024-01-01";
        given.dateFrom = random.pick([
          given.dateTo,
          "2024-01-01T00:00Z",
          "2024-01-01T01:00+01:00",
          "2025-06-01",
        ]);
      },
    ],
  ]);
}

function put(target, name, value) {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** The same parameters as another kind of object, or something that is none. */
export function disguise(random, members) {
  const names = Object.keys(members);
  const name = names.length > 0 ? random.pick(names) : "limit";
  const { [name]: value = 5, ...others } = members;
  return random.pick([
    { $: "no prototype", members },
    { $: "frozen", members },
    { $: "inherited", members: others, from: { [name]: value } },
    { $: "inherited", members, from: { limitt: 1 } },
    { $: "symbol member", members },
    { $: "hidden member", members: others, name, value },
    { $: "getter", members: others, name, value },
    { $: "throwing getter", members: others, name },
    { $: "throwing getter", members, name: "other" },
    { $: "proxy", members },
    { $: "throwing proxy", members, trap: "get" },
    { $: "throwing proxy", members, trap: "ownKeys" },
    { $: "throwing proxy", members, trap: "getOwnPropertyDescriptor" },
    { $: "throwing proxy", members, trap: "has" },
    ...MISTYPED,
    { $: "undefined" },
  ]);
}

function shuffle(random, list) {
  const copy = [...list];
  for (let at = copy.length - 1; at > 0; at--) {
    const other = random.integer(0, at);
    [copy[at], copy[other]] = [copy[other], copy[at]];
  }
  return copy;
}
