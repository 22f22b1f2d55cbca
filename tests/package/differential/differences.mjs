/**
 * What the package does otherwise than before, on purpose. Each entry excuses the differences that
 * it `matches` and no others; one that excuses nothing any more fails the test.
 *
 * @typedef {object} ExpectedDifference
 * @property {string} id
 * @property {string} why it is intended, in a sentence
 * @property {(difference: import("./compare.mjs").Difference, subject: import("./run.mjs").Case) => boolean} matches
 *
 * @type {ExpectedDifference[]}
 */
export const EXPECTED = [
  {
    id: "stack-of-a-retry",
    why: "the error that onRetry sees gets the stack of the caller's line only when it is the end",
    matches: ({ path, eventAfter }) =>
      eventAfter?.event === "onRetry" && path.endsWith(".error.stack"),
  },
  {
    id: "text-as-received",
    why: "half a surrogate pair in a server's message is handed over as it was received",
    matches: ({ before, after }) =>
      typeof after === "string" && !after.isWellFormed() && after.toWellFormed() === before,
  },
  {
    id: "name-of-half-a-character",
    why: "a parameter whose name is not well-formed is refused as any other that is not known",
    matches: ({ eventAfter }, subject) =>
      hasBrokenName(subject) && (eventAfter === undefined || isRefusal(eventAfter, "unknown")),
  },
  {
    id: "no-wait-past-the-end",
    why: "a wait that does not fit into what is left of totalTimeout is not begun: the failure is the result",
    matches: ({ path, before, after, eventBefore, eventAfter }, subject) =>
      JSON.stringify(subject).includes('"totalTimeout"') &&
      (/again in/.test(eventBefore?.given) ||
        eventBefore?.event === "onRetry" ||
        eventBefore?.event === "rejects" ||
        (eventAfter?.event === "rejects" && eventBefore === undefined) ||
        // What follows comes sooner, since the wait is left out.
        (path.endsWith(".at") && after < before)),
  },
  {
    id: "deadline-of-a-watch",
    why: "a watch whose caller comes back late polls at its deadline, and not after a whole wait",
    matches: ({ path, before, after }, subject) =>
      path.endsWith(".at") && after < before && /watch|wait/i.test(JSON.stringify(subject.actions)),
  },
  {
    id: "left-at-a-row",
    why: "a list that is left at the row at which its next page would be asked for does not ask for it",
    matches: ({ eventBefore, eventAfter }, subject) =>
      eventAfter === undefined &&
      /request|debug/i.test(eventBefore?.event) &&
      JSON.stringify(subject.actions).includes('"use":"rows"'),
  },
  {
    id: "signal-that-is-none",
    why: "a signal that is not a signal is ignored by a list that is iterated, as it is by a call: there it was a TypeError of the host's",
    matches: ({ eventBefore }, subject) =>
      hasPrimitiveSignal(subject) && (eventBefore === undefined || eventBefore.event === "rejects"),
  },
  {
    id: "address-first",
    why: "a base URL that the host cannot parse is refused before the parameters are, and unsent requests as well",
    matches: ({ eventBefore, eventAfter }) =>
      isRefusal(eventAfter, "base-url") ||
      (eventAfter === undefined && eventBefore?.event === "result"),
  },
  {
    id: "operations-of-the-gateway-alone",
    why: "buildRequest refuses the names of operations that only a gateway has, and no method of the package",
    matches: ({ eventAfter }, subject) =>
      /"agentJobs\.(events|deleteRecord)"/.test(JSON.stringify(subject.actions)) &&
      (eventAfter === undefined || isRefusal(eventAfter, "unknown")),
  },
];

/** Whether a call is rejected, or one of several, by this rule. */
function isRefusal(event, rule) {
  return (
    ["rejects", "result"].includes(event?.event) &&
    JSON.stringify(event).includes(`"rule":"${rule}"`)
  );
}

function hasBrokenName(value) {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([name, member]) => !name.isWellFormed() || hasBrokenName(member),
  );
}

function hasPrimitiveSignal(value) {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([name, member]) =>
      (name === "signal" && ["number", "string", "boolean"].includes(typeof member)) ||
      hasPrimitiveSignal(member),
  );
}
