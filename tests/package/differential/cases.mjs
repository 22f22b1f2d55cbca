/** Generates cases: calls and the answers that they get. */
import {
  makeFailure,
  makeJobChanges,
  makeList,
  makeNoResponse,
  makePages,
  makePassingRefusal,
  makeRedirect,
  makeRefusal,
  makeStreams,
  makeSuccess,
  makeWriteRefusal,
} from "./answers.mjs";
import { makeClient, makeEnvironment, makeOptions, spoilClient, spoilOptions } from "./options.mjs";
import { disguise, makeParams, OPERATIONS, OTHER_NAMES } from "./parameters.mjs";
import { mix, Random } from "./random.mjs";

const NAMES = Object.keys(OPERATIONS);
const LISTS = NAMES.filter((name) => OPERATIONS[name].list !== undefined);
const WRITES = NAMES.filter((name) => OPERATIONS[name].writes);
const JOB_ID = "job_1";

/** The case of this number. */
export function makeCase(seed, number) {
  const random = new Random(mix(seed, number));
  const start = Date.UTC(2026, 0, 1) + random.integer(0, 365 * 86_400_000);
  const base = { number, seed: mix(seed, number, 1), start };
  return {
    ...base,
    ...random.weigh(KINDS.map(([weight, make]) => [weight, () => make(random, start)])),
  };
}

const KINDS = [
  [20, withParams],
  [7, withRequestsUnsent],
  [8, withClients],
  [9, withCallOptions],
  [20, withAnswers],
  [8, withWrites],
  [18, withLists],
  [12, withJobs],
  [5, withSeveral],
];

/** Good and bad parameters; the answer is as promised. */
function withParams(random, start) {
  const operation = random.pick(NAMES);
  const { options } = makeClient(random);
  const mistakes = random.weigh([
    [3, 0],
    [5, 1],
    [2, 2],
  ]);
  const params = makeParams(random, operation, mistakes);
  const given = random.chance(0.15) ? disguise(random, params) : params;
  return {
    client: options,
    actions: [makeAction(random, operation, given, {})],
    answers: answersTo(random, operation, start),
  };
}

function answersTo(random, operation, start) {
  const { result, list } = OPERATIONS[operation];
  if (list !== undefined && random.chance(0.5)) return [makeList(random, { result, list, start })];
  return [makeSuccess(random, { result, start })];
}

/** What each method takes before its options. */
function toArguments(operation, params, options) {
  if (params?.$ === undefined && params !== null && typeof params === "object") {
    const { id, threadId, ...others } = params;
    if (operation === "agentJobs.get") return [id ?? missing("id" in params), options];
    if (operation === "agentJobs.sendMessage")
      return [id ?? missing("id" in params), others, options];
    if (operation === "analytics.conversation")
      return [threadId ?? missing("threadId" in params), options];
  }
  if (operation === "agentJobs.sendMessage") return [JOB_ID, params, options];
  return [params, options];
}

function missing(isNull) {
  return isNull ? null : { $: "undefined" };
}

function makeAction(random, operation, params, options) {
  const args = toArguments(operation, params, options);
  const isList = OPERATIONS[operation].list !== undefined;
  return { do: operation, args, ...(isList ? makeListUse(random) : makeUse(random)) };
}

function makeUse(random) {
  const use = random.weigh([
    [10, undefined],
    [3, "with response"],
    [1, () => random.pick(["catch", "finally", "both ways", "twice"])],
  ]);
  return use === undefined ? {} : { use };
}

function makeListUse(random) {
  const use = random.weigh([
    [6, undefined],
    [2, "with response"],
    [5, "rows"],
    [3, "rows at once"],
    [1, "rows left early"],
    [4, "pages"],
    [3, "next pages"],
    [0.5, "next page, other options"],
    [1, "resume"],
    [1, "resume everything"],
    [3, "all"],
    [5, "some of all"],
    [0.3, "all, with a mistake"],
    [0.2, "all, with a hook that throws"],
    [0.5, () => random.pick(["catch", "finally", "both ways", "twice", "nothing"])],
  ]);
  if (use === undefined) return {};
  if (use === "rows left early") return { use, take: random.integer(0, 6) };
  const isShort = use === "some of all" || random.chance(0.5);
  return { use, take: isShort ? random.integer(1, 12) : 1000 };
}

/** Requests that are built and not sent. */
function withRequestsUnsent(random) {
  const { options } = makeClient(random);
  const operation = random.weigh([
    [8, () => random.pick(NAMES)],
    [2, () => random.pick(OTHER_NAMES)],
  ]);
  const known = Object.hasOwn(OPERATIONS, operation) ? operation : "agentJobs.get";
  const params = makeParams(random, known, random.pick([0, 0, 1]));
  const given = random.chance(0.1) ? disguise(random, params) : params;
  const call = makeOptions(random, { writes: true });
  return {
    client: options,
    actions: [
      {
        do: "buildRequest",
        args: [operation, given, random.chance(0.2) ? spoilOptions(random, call) : call],
      },
    ],
    answers: [{ after: 5.5, hang: true }],
  };
}

/** Good and bad options of clients. */
function withClients(random, start) {
  const operation = random.pick(NAMES);
  const { options } = makeClient(random);
  const spoiled = spoilClient(random, options);
  const params = makeParams(random, operation);
  const inOptions = random.chance(0.25);
  const change = { do: "withOptions", args: [inOptions ? spoiled : makeClient(random).options] };
  const actions = [makeAction(random, operation, params, {})];
  if (inOptions || random.chance(0.1)) actions.unshift(change);
  return {
    client: inOptions ? options : spoiled,
    ...(random.chance(0.2) && { environment: makeEnvironment(random) }),
    actions,
    answers: answersTo(random, operation, start),
  };
}

/** Good and bad options of calls. */
function withCallOptions(random, start) {
  const operation = random.pick([...NAMES, ...WRITES, "wait", "watch"]);
  const { options } = makeClient(random);
  const isJob = OPERATIONS[operation] === undefined;
  const { writes } = OPERATIONS[operation] ?? {};
  const call = makeOptions(random, { writes, watches: isJob, aborts: 0.2 });
  const given = random.chance(0.75) ? spoilOptions(random, call) : call;
  const answers = isJob
    ? makeJobChanges(random, { start })
    : mayFailFirst(
        random,
        { ...OPERATIONS[operation], start },
        answersTo(random, operation, start),
      );
  const action = isJob
    ? makeJobUse(random, operation, JOB_ID, given)
    : makeAction(random, operation, makeParams(random, operation), given);
  return { client: options, actions: [action], answers };
}

function mayFailFirst(random, about, answers) {
  const failures = random.weigh([
    [3, 0],
    [2, 1],
    [1, 2],
    [1, 3],
  ]);
  return [...random.several(failures, failures, () => makePassing(random, about)), ...answers];
}

function makePassing(random, about) {
  return random.chance(0.6) ? makePassingRefusal(random, about) : makeFailure(random, about);
}

/** Answers of all kinds. */
function withAnswers(random, start) {
  const operation = random.pick(NAMES);
  const { options } = makeClient(random);
  const about = { ...OPERATIONS[operation], start };
  const answers = random.several(1, 4, () =>
    random.weigh([
      [
        6,
        () =>
          makeSuccess(random, {
            ...about,
            mistakes: random.weigh([
              [1, 0],
              [3, 1],
              [1, 2],
            ]),
          }),
      ],
      [6, () => makeRefusal(random, about)],
      [7, () => makePassingRefusal(random, about)],
      [4, () => makeFailure(random, about)],
      [0.7, () => makeRedirect(random)],
      [1.2, () => makeNoResponse(random)],
    ]),
  );
  if (random.chance(0.5)) answers.push(makeSuccess(random, about));
  const call = makeOptions(random, { writes: about.writes });
  return {
    client: options,
    actions: [makeAction(random, operation, makeParams(random, operation), call)],
    answers,
  };
}

/** Writes, which may have to be sent once only. */
function withWrites(random, start) {
  const operation = random.pick(WRITES);
  const { options } = makeClient(random);
  const about = { ...OPERATIONS[operation], start };
  const answers = random.several(0, 4, () =>
    random.weigh([
      [4, () => makeWriteRefusal(random, about)],
      [3, () => makePassing(random, about)],
      [1, () => makeRefusal(random, about)],
    ]),
  );
  if (answers.length === 0 || random.chance(0.7)) answers.push(makeSuccess(random, about));
  const call = makeOptions(random, { writes: true });
  return {
    client: options,
    actions: [makeAction(random, operation, makeParams(random, operation), call)],
    answers,
  };
}

/** Lists of every kind, used in every way. */
function withLists(random, start) {
  const operation = random.pick(LISTS);
  const { options } = makeClient(random);
  const about = { ...OPERATIONS[operation], start };
  const answers = random.chance(0.5) ? [makeList(random, about)] : makePages(random, about);
  const faults = random.weigh([
    [8, 0],
    [2, 1],
    [1, 2],
  ]);
  for (let made = 0; made < faults; made++) {
    answers.splice(random.integer(0, answers.length - 1), 0, makePassing(random, about));
  }
  let params = makeParams(random, operation);
  if (random.chance(0.08)) params = makeCursorParams(random, params, about);
  if (random.chance(0.06)) params.dateFrom = nearNow(random, start);
  const action = makeAction(random, operation, params, makeOptions(random, {}));
  if (action.use === undefined && random.chance(0.7)) Object.assign(action, makeListUse(random));
  return { client: options, actions: [action], answers };
}

/** Where a list goes on: something that a page gave, or nearly. */
function makeCursorParams(random, params, { list }) {
  const cursor = random.pick([
    params,
    { ...params, limit: 3, [list.by]: list.by === "offset" ? 6 : "c000002" },
    null,
    5,
    { $: "undefined" },
    { ...params, bogus: 1 },
    [],
    {},
    { $: "throwing getter", members: {}, name: "limit" },
  ]);
  return random.chance(0.8) ? { cursor } : { cursor, limit: 2 };
}

/** Around the moment at which an open range is closed. */
function nearNow(random, start) {
  const at = start + random.pick([-600_000, -300_000, -1000, 0, 1000, 400_000]);
  return random.pick([new Date(at).toISOString(), new Date(at).toISOString().slice(0, 10)]);
}

/** Jobs that are watched to their end, or nearly. */
function withJobs(random, start) {
  const { options } = makeClient(random);
  const answers = makeJobChanges(random, { start });
  const hasStreams = random.chance(0.5);
  const streams = hasStreams
    ? makeStreams(random, { start })
    : [makeRefusal(random, { start, statuses: [404, 405, 501] })];
  const id = random.chance(0.95)
    ? JOB_ID
    : random.pick(["", "..", null, "a/b", "\ud800", { $: "undefined" }]);
  const call = makeOptions(random, { watches: true, aborts: 0.15 });
  const actions = [makeJobUse(random, random.pick(["wait", "watch"]), id, call)];
  // Whether there are streams is remembered.
  if (random.chance(0.1)) actions.push(makeJobUse(random, "wait", JOB_ID, {}));
  return { client: options, actions, answers, streams };
}

function makeJobUse(random, name, id, options) {
  const isPlain = typeof options === "object" && options !== null && options.$ === undefined;
  const withUpdates = name === "wait" && isPlain && !Array.isArray(options) && random.chance(0.7);
  const hook = { $: "hook", name: "onUpdate", ...(random.chance(0.05) && { throws: true }) };
  const given = withUpdates ? { ...options, onUpdate: hook } : options;
  const use =
    name === "watch"
      ? { use: "changes", take: random.chance(0.7) ? 1000 : random.integer(1, 3) }
      : {};
  return { do: `agentJobs.${name}`, args: [id, given], ...use };
}

/** Several calls of one client, one after another or at once. */
function withSeveral(random, start) {
  const { options } = makeClient(random);
  const names = random.several(2, 3, () => random.pick(NAMES));
  const all = names.map((name) =>
    makeAction(
      random,
      name,
      makeParams(random, name),
      makeOptions(random, { writes: OPERATIONS[name].writes }),
    ),
  );
  const answers = names.flatMap((name) =>
    mayFailFirst(random, { ...OPERATIONS[name], start }, [
      makeSuccess(random, { ...OPERATIONS[name], start }),
    ]),
  );
  const actions = random.chance(0.5) ? [{ do: "together", actions: all }] : all;
  return { client: options, actions, answers };
}
