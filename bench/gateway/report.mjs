/** What was measured of the gateway, as tables. */
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../../scripts/versions.mjs";
import { measure } from "../sizes.mjs";
import { PLAN } from "./measure.mjs";
import { STEPS } from "./variants.mjs";

const WORDS = {
  fixed: "fixed: an answer of its own of 20 kB, nothing asked and nothing checked",
  bare: "bare: JavaScript pass-through, no checks",
  hand: "hand: JavaScript, same checks",
  hono: "hono: Hono's jwt, cors, zod validator and proxy, same checks",
  "hand-do": "hand-do: hand, with the same budget and idempotency in a Durable Object",
  quillgate: "quillgate",
  ...STEPS,
};
/** Where nothing is cached elsewhere, ours is compared with what others have: no cache. */
const BASE_OF = { "views cached": "views uncached" };
/** What each next one does beside what the one before does. */
const PROFILES = {
  "views uncached": ["bare", "hand", ...Object.keys(STEPS), "quillgate"],
  "views cached": ["fixed", "quillgate"],
  "job read": ["bare", "hand", "quillgate"],
  create: ["bare", "hand", "hand-do", "quillgate"],
};
const WASM_GOAL = 100_000;

/**
 * The gateway's part of the report.
 *
 * @param {import("./measure.mjs").Measured} measured
 */
export async function gatewayReport(measured) {
  const { samples, crossings } = measured;
  const sizes = await gatewaySizes();
  return [
    "## The gateway beside others, in one workerd",
    method(measured),
    ...Object.keys(PLAN).flatMap((path) => [
      `### ${title(path)}`,
      ...(path in BASE_OF
        ? [`The others keep nothing: compared with their ${BASE_OF[path]}.`]
        : []),
      pathTable(samples, path),
    ]),
    "### Goals",
    goalTable(goals(measured, sizes)),
    "### Where the processor time goes",
    "Microseconds an answer, of workerd alone; each row does what the one before does, and more.",
    ...Object.entries(PROFILES).flatMap(([path, names]) => [
      `${title(path)}:`,
      profileTable(samples[path], names),
    ]),
    "### Calls between JavaScript and wasm, a request",
    crossingTable(crossings),
    "### Size of the Worker, in bytes",
    sizeTable(sizes),
  ].join("\n\n");
}

function title(path) {
  return path[0].toUpperCase() + path.slice(1);
}

function method({ samples, options, folder }) {
  const { rounds, milliseconds, connections } = options;
  const bare = samples["job read"].bare.map(({ cpu }) => cpu);
  const [load, upstream] = ["load", "upstream"].map((name) =>
    median(bare.map((cpu) => cpu[name])).toFixed(0),
  );
  const all = Object.values(samples).flatMap((named) => Object.values(named).flat());
  const others = median(all.map(({ others }) => others)).toFixed(2);
  return `\
${connections} keep-alive connections on loopback, ${rounds} alternating rounds of ${milliseconds} ms for each, on
${cpus().length} cores of which other work took ${others} meanwhile. A ratio is of two rates of one round; medians, and
in parentheses the quartiles. Busy is the share of a core that workerd used: where it is well below
1, something else was the limit, and processor time is the better figure. A job read through the
bare pass-through cost the load ${load} µs and the upstream ${upstream} µs. Durable Objects are on workerd's
local disk storage, in \`${dirname(folder)}\`.`;
}

// --- throughput ------------------------------------------------------------

function pathTable(samples, path) {
  const names = PLAN[path].filter((name) => !(name in STEPS));
  const lines = names.map((name) => {
    const own = samples[path][name];
    const busy = median(own.map(({ rate, cpu }) => (rate * cpu.gateway) / 1e6));
    const cells = [
      median(own.map(({ rate }) => rate)).toFixed(0),
      median(own.map(({ cpu }) => cpu.gateway)).toFixed(0),
      busy.toFixed(2),
      withSpread(ratios(samples, path, name, "bare")),
      withSpread(ratios(samples, path, name, "hono")),
    ];
    return row([WORDS[name], ...cells]);
  });
  const head = ["gateway", "req/s", "CPU, µs", "busy", "rate / bare's", "rate / Hono's"];
  return table(head, lines);
}

/** How many times another's rate a gateway's is, by round. */
function ratios(samples, path, name, other) {
  const others = (samples[path][other] ?? samples[BASE_OF[path]][other]).map(({ rate }) => rate);
  return samples[path][name].map(({ rate }, round) => rate / others[round]);
}

/** The same of processor time: how many answers it gives for one of the other's. */
function thrifts(samples, path, name, other) {
  const others = samples[path][other] ?? samples[BASE_OF[path]][other];
  return samples[path][name].map(({ cpu }, round) => others[round].cpu.gateway / cpu.gateway);
}

// --- goals -----------------------------------------------------------------

/**
 * @typedef {object} Goal
 * @property {string} what
 * @property {string} value
 * @property {string} thrift the same by processor time
 * @property {boolean} isReached
 */

/** @returns {Goal[]} */
function goals({ samples, crossings }, sizes) {
  const atLeast = (path, other, least) => {
    const found = ratios(samples, path, "quillgate", other);
    return {
      what: `${path}: at least ${least.toFixed(1)} of ${other}`,
      value: withSpread(found),
      thrift: withSpread(thrifts(samples, path, "quillgate", other)),
      isReached: median(found) >= least,
    };
  };
  const { gzip } = sizes.wasm;
  return [
    atLeast("views uncached", "bare", 1),
    atLeast("views uncached", "hono", 2),
    atLeast("views cached", "bare", 2),
    atLeast("create", "hand-do", 1),
    fewCrossings("views cached", crossings),
    fewCrossings("views uncached", crossings),
    {
      what: "wasm: at most 100 kB gzip",
      value: String(gzip),
      thrift: "",
      isReached: gzip <= WASM_GOAL,
    },
  ];
}

function fewCrossings(path, crossings) {
  const { worker, object } = crossings[path];
  return {
    what: `${path}: at most 4 calls between JavaScript and wasm`,
    value: object === 0 ? String(worker) : `${worker} and, in the Durable Object, ${object}`,
    thrift: "",
    isReached: worker + object <= 4,
  };
}

function goalTable(found) {
  const lines = found.map(({ what, value, thrift, isReached }) =>
    row([what, value, thrift, isReached ? "yes" : "**no**"]),
  );
  return table(["goal", "measured", "by processor time", "reached"], lines);
}

// --- what it costs ---------------------------------------------------------

function profileTable(samples, names) {
  const cost = (name) => median(samples[name].map(({ cpu }) => cpu.gateway));
  const lines = names.map((name, at) => {
    const added = at === 0 ? "" : (cost(name) - cost(names[at - 1])).toFixed(0);
    return row([WORDS[name], cost(name).toFixed(0), added]);
  });
  return table(["gateway", "CPU, µs", "added"], lines);
}

function crossingTable(crossings) {
  const lines = Object.entries(crossings).map(([path, { worker, object, names }]) =>
    row([path, worker, object, names]),
  );
  return table(["path", "in the Worker", "in the Durable Object", "calls"], lines);
}

async function gatewaySizes() {
  const built = join(ROOT, "worker", "build");
  const [wasm, js] = ["gateway_bg.wasm", "index.js"].map((name) => readFile(join(built, name)));
  return { wasm: measure(await wasm), js: measure(await js) };
}

function sizeTable({ wasm, js }) {
  const line = (name, { raw, gzip, brotli }) => row([name, raw, gzip, brotli]);
  const lines = [line("wasm", wasm), line("JavaScript, not minified", js)];
  return table(["what", "as it is", "gzip 9", "brotli 11"], lines);
}

// --- numbers and tables ----------------------------------------------------

function withSpread(values) {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => quantile(values, part).toFixed(2));
  return `${middle} (${low}–${high})`;
}

function median(values) {
  return quantile(values, 0.5);
}

/** Between the two nearest, in proportion. */
function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const below = sorted[Math.floor(at)];
  return below + (sorted[Math.ceil(at)] - below) * (at % 1);
}

function table(head, lines) {
  const rule = row(head.map((_, at) => (at === 0 ? "---" : "--:")));
  return [row(head), rule, ...lines].join("\n");
}

function row(cells) {
  return `| ${cells.join(" | ")} |`;
}
