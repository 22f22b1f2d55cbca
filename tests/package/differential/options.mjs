/** Options of clients and of calls, as they should be and as they should not. */
import { disguise, MISTYPED, ODD_TEXTS } from "./parameters.mjs";

const TOKEN = "eyJhbGciOiJIUzI1NiJ9.a-token.of-a-gateway";
const KEY = "mint_a_key_of_this_test";

const GATEWAY = { baseUrl: "https://gate.example" };
const BASE_URLS = [
  ...[
    "https://gate.example",
    "https://gate.example/",
    "https://gate.example///",
    "https://gate.example/a/b",
  ],
  ...[
    "http://gate.example:8787",
    "HTTPS://gate.example",
    "https://GATE.example/Path",
    "https://[::1]:8787",
  ],
  ...["http://localhost:8788", "http://127.0.0.1", "http://[::1]", "http://localhost.example"],
  ...[
    "http://127.0.0.1:80/x",
    "http://localhost:x",
    "https://gate.example/%2e%2e/a",
    "https://gate.example/../b",
  ],
];
const BAD_BASE_URLS = [
  ...[
    "",
    "gate.example",
    "//gate.example",
    "ftp://gate.example",
    "https://",
    "https:///a",
    "https://:80",
  ],
  ...[
    "https://user:pass@gate.example",
    "https://gate.example?x=1",
    "https://gate.example#a",
    "https:// ",
  ],
  ...[
    "https://gate.example\n",
    "https://bücher.example",
    "https://gate\\x",
    'https://gate"x',
    "https://<x>",
  ],
  ...[
    "https://gate.example:99999",
    "https://[::1",
    "https://[",
    "https://%",
    "https://gate..example",
    "https://a%zz",
  ],
  ...[
    "javascript:alert(1)",
    "data:text/plain,x",
    "http://localhost@elsewhere.example",
    "https://1.2.3.4.5",
  ],
  ...MISTYPED,
];
/** Good for a token and not for an admin key. */
const OPEN_BASE_URLS = [
  ...["http://gate.example", "http://localhost.example", "http://127.0.0.2", "http://[::2]/a"],
  ...["http://127.0.0.1.example:80", "http://localhosts", "http://LOCALHOST"],
];
const BAD_TOKENS = [
  "",
  " ",
  "a b",
  "a\nb",
  "tökén",
  "\u0000",
  "\u007f",
  "🦉",
  "\ud800",
  ...MISTYPED,
];
const KEYS = [KEY, "mint_x", "mint_ds", "mint_dsc", "mint_us", "mint_!~"];
const BAD_KEYS = [
  ...[
    "",
    "mint_",
    "mint",
    "MINT_x",
    "mint_dsc_x",
    "mint_us_x",
    "mint_a b",
    "mint_ü",
    "xmint_a",
    " mint_a",
  ],
  ...["mint_a\n", "dsc_x", ...MISTYPED],
];

const HEADERS = [
  ...[
    {},
    { "x-a": "1" },
    { "X-Mixed-Case": "A", "x-b": "" },
    { Accept: "text/plain" },
    { "user-agent": "me" },
  ],
  ...[
    { Authorization: "Basic x" },
    { "Content-Type": "text/plain" },
    { "Idempotency-Key": "theirs" },
  ],
  ...[
    { "idempotency-retry": "force" },
    { "x-n": 5 },
    { "x-latin": "\u00fc" },
    [
      ["x-a", "1"],
      ["x-a", "2"],
    ],
  ],
  ...[
    { $: "headers", entries: { "x-made": "1", accept: "image/png" } },
    { "last-event-id": "9" },
    { cookie: "a=b" },
  ],
];
const BAD_HEADERS = [
  ...[
    { "bad name": "1" },
    { "": "1" },
    { "x-a": "a\nb" },
    { "x-a": "🦉" },
    [["x-a"]],
    { "x-a": { $: "symbol" } },
  ],
  ...MISTYPED,
];

const TIMES = [1, 20, 50, 200, 700, 1500, 5_000, 20_000, 100_000, 2 ** 31 - 1];
const BAD_TIMES = [0, -1, 1.5, 2 ** 31, 2 ** 53, "500", { $: "-0" }, ...MISTYPED];
const RETRIES = [0, 0, 1, 2, 3, 5, 10];
const BAD_RETRIES = [-1, 11, 1.5, "2", 2 ** 32, 1e300, ...MISTYPED];
const IDEMPOTENCY_KEYS = ["k", "a-key", "!~", { $: "repeat", text: "k", times: 255 }];
const BAD_IDEMPOTENCY_KEYS = [
  ...["", " ", "a b", "ü", "a\n", "\u0000", { $: "repeat", text: "k", times: 256 }],
  ...MISTYPED,
];

const REASONS = [
  ...[
    undefined,
    undefined,
    undefined,
    "stopped",
    0,
    null,
    { $: "undefined" },
    { kind: "validation", message: "mine" },
  ],
  ...[
    { $: "error", message: "the caller has had enough" },
    { kind: "timeout", message: "mine", after: 3 },
  ],
  { $: "DOM exception", message: "mine", name: "TimeoutError" },
];

/** A signal that aborts before, in a request, in a body, in a wait, or after all. */
export function makeSignal(random) {
  const abort = random.weigh([
    [2, "before"],
    [3, () => ({ request: random.integer(1, 3), after: random.duration(1, 900) })],
    [4, () => ({ at: random.duration(1, 60_000) })],
    [1, undefined],
  ]);
  const reason = random.pick(REASONS);
  return {
    $: "signal",
    ...(abort !== undefined && { abort }),
    ...(reason !== undefined && { reason }),
  };
}

function set(random, options, probability, name, values) {
  if (random.chance(probability)) options[name] = random.pick(values);
}

/** Options of a client that works. `isDirect` says whether it talks to the platform itself. */
export function makeClient(random) {
  const isDirect = random.chance(0.4);
  const options = { projectId: random.chance(0.85) ? "acme" : makeProject(random) };
  if (isDirect) {
    options.adminKey = random.chance(0.8) ? KEY : random.pick(KEYS);
    const isSafe = (url) =>
      !/^http:/i.test(url) || /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d*)?(\/|$)/.test(url);
    set(random, options, 0.3, "baseUrl", BASE_URLS.filter(isSafe));
  } else {
    options.token = TOKEN;
    options.baseUrl = random.chance(0.7) ? "https://gate.example" : random.pick(BASE_URLS);
  }
  if (random.chance(0.5)) options.fetch = { $: "fetch" };
  set(random, options, 0.1, "timeout", TIMES);
  set(random, options, 0.08, "totalTimeout", TIMES);
  set(random, options, 0.15, "maxRetries", RETRIES);
  set(random, options, 0.06, "retryWrites", [true, false, false]);
  set(random, options, 0.1, "defaultHeaders", HEADERS);
  const hook = (name) => ({ $: "hook", name, ...(random.chance(0.1) && { throws: true }) });
  for (const name of ["onRequest", "onResponse", "onRetry"]) {
    if (random.chance(0.15)) options[name] = hook(name);
  }
  set(random, options, 0.3, "logLevel", ["off", "error", "warn", "info", "debug", "debug"]);
  if (random.chance(0.2))
    options.logger = { $: "logger", ...(random.chance(0.1) && { throws: true }) };
  set(random, options, 0.02, "dangerouslyAllowBrowser", [true, false]);
  return { options, isDirect };
}

function makeProject(random) {
  return `p${random.pick(ODD_TEXTS)}`;
}

/** Puts a mistake, or something unusual, into a client's options. */
export function spoilClient(random, options) {
  const mistake = random.weigh([
    [3, () => ({ ...options, baseUrl: random.pick([...BAD_BASE_URLS, ...BASE_URLS]) })],
    [3, () => ({ ...without(options, "adminKey"), ...GATEWAY, token: random.pick(BAD_TOKENS) })],
    [4, () => ({ projectId: "acme", adminKey: random.pick(BAD_KEYS), fetch: { $: "fetch" } })],
    [
      1,
      () => ({ projectId: "acme", adminKey: random.pick(KEYS), baseUrl: random.pick(BASE_URLS) }),
    ],
    [3, () => ({ projectId: "acme", adminKey: KEY, baseUrl: random.pick(OPEN_BASE_URLS) })],
    [1, () => ({ projectId: "acme", adminKey: KEY, baseUrl: random.pick(BAD_BASE_URLS) })],
    [1, () => ({ ...options, token: random.pick(BAD_TOKENS), adminKey: random.pick(BAD_KEYS) })],
    [3, () => ({ ...options, projectId: random.pick(["", ".", "..", ...ODD_TEXTS, ...MISTYPED]) })],
    [2, () => without(options, random.pick(["projectId", "token", "adminKey", "baseUrl"]))],
    [
      2,
      () => ({
        ...options,
        [random.pick([
          "apiKey",
          "baseURL",
          "retries",
          "toString",
          "__proto__x",
          "🦉".repeat(20),
          "",
        ])]: 1,
      }),
    ],
    [1, () => ({ ...options, apiKey: { $: "undefined" } })],
    [2, () => ({ ...options, timeout: random.pick(BAD_TIMES) })],
    [2, () => ({ ...options, totalTimeout: random.pick(BAD_TIMES) })],
    [2, () => ({ ...options, maxRetries: random.pick(BAD_RETRIES) })],
    [1, () => ({ ...options, retryWrites: random.pick(MISTYPED) })],
    [2, () => ({ ...options, defaultHeaders: random.pick(BAD_HEADERS) })],
    [1, () => ({ ...options, fetch: random.pick([null, 5, "x", {}, { $: "undefined" }]) })],
    [
      1,
      () => ({
        ...options,
        [random.pick(["onRequest", "onResponse", "onRetry"])]: random.pick([5, "x", {}, null]),
      }),
    ],
    [1, () => ({ ...options, logLevel: random.pick(["verbose", "", null, 5, "DEBUG"]) })],
    [
      1,
      () => ({
        ...options,
        logLevel: "debug",
        logger: { $: "logger", without: ["debug", "warn"] },
      }),
    ],
    [1, () => ({ ...options, dangerouslyAllowBrowser: random.pick(MISTYPED) })],
    [1, () => disguise(random, options)],
  ]);
  return mistake;
}

function without(options, name) {
  const { [name]: _, ...others } = options;
  return others;
}

/** What an environment may say. */
export function makeEnvironment(random) {
  const variables = {};
  set(random, variables, 0.5, "QUILLGATE_BASE_URL", [
    "https://from.environment.example",
    "nonsense",
    "",
  ]);
  set(random, variables, 0.5, "QUILLGATE_PROJECT_ID", ["from-environment", "..", ""]);
  set(random, variables, 0.5, "QUILLGATE_TOKEN", ["from.environment", "with space", ""]);
  set(random, variables, 0.4, "QUILLGATE_LOG", ["debug", "off", "nonsense"]);
  return variables;
}

/** Options of a call that works. */
export function makeOptions(random, { writes = false, watches = false, aborts = 0.08 }) {
  const options = {};
  if (random.chance(aborts)) options.signal = makeSignal(random);
  set(random, options, 0.12, "timeout", watches ? [1, 900, 3_000, 20_000, 90_000, 600_000] : TIMES);
  if (!watches) {
    set(random, options, 0.1, "totalTimeout", TIMES);
    set(random, options, 0.15, "maxRetries", RETRIES);
  }
  set(random, options, 0.1, "headers", HEADERS);
  if (writes) {
    set(random, options, 0.2, "idempotencyKey", IDEMPOTENCY_KEYS);
    set(random, options, 0.1, "force", [true, true, false]);
  }
  return options;
}

/** Puts a mistake, or something unusual, into a call's options. */
export function spoilOptions(random, options) {
  return random.weigh([
    [3, () => ({ ...options, timeout: random.pick(BAD_TIMES) })],
    [3, () => ({ ...options, totalTimeout: random.pick(BAD_TIMES) })],
    [3, () => ({ ...options, maxRetries: random.pick(BAD_RETRIES) })],
    [3, () => ({ ...options, idempotencyKey: random.pick(BAD_IDEMPOTENCY_KEYS) })],
    [2, () => ({ ...options, headers: random.pick(BAD_HEADERS) })],
    [1, () => ({ ...options, force: random.pick(MISTYPED) })],
    [
      2,
      () => ({
        ...options,
        [random.pick([
          "retries",
          "timeOut",
          "baseUrl",
          "token",
          "onUpdate",
          "fetch",
          "limit",
          "__proto__x",
        ])]: 1,
      }),
    ],
    [1, () => ({ ...options, retries: { $: "undefined" } })],
    // What is no signal at all; something that looks like one and is none is a caller's lie.
    [1, () => ({ ...options, signal: random.pick([null, undefined, 5, "x", false]) })],
    [1, () => disguise(random, options)],
  ]);
}
