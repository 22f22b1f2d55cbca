/** What the core declares beside what the platform publishes: a line for each difference. */

const MAX_SAFE_INTEGER = Number.MAX_SAFE_INTEGER;
/** Keywords that tell people something and demand nothing. */
const WORDS = ["description", "example", "nullable"];

/** The bodies of refusals, as the core reads them (docs/platform.md, 7). */
const message = { kind: "nullable", value: { kind: "text" } };
const ERRORS = {
  agentJobs: { kind: "object", name: "AgentJobsError", members: { error: message } },
  analytics: {
    kind: "object",
    name: "AnalyticsError",
    members: {
      error: message,
      details: {
        kind: "nullable",
        value: {
          kind: "list",
          items: { kind: "object", name: "ErrorDetail", members: { message } },
        },
      },
    },
  },
};

/**
 * Every difference, each once.
 *
 * @param {object[]} declared the operations of the core that the platform has
 * @param {import("./published.mjs").PublishedOperation[]} published
 * @returns {string[]}
 */
export function listDifferences(declared, published) {
  const lines = declared.flatMap((operation) => {
    const own = findPublished(operation, published);
    if (own === undefined) {
      return [`${operation.name}: ${operation.method} ${operation.path} is not published`];
    }
    return [...compareParameters(operation, own), ...compareResponses(operation, own)];
  });
  const unknown = published
    .filter((own) => !declared.some((operation) => isSame(operation, own)))
    .map(({ method, path }) => `${method} ${path} is published, not declared`);
  return [...new Set([...lines, ...unknown])];
}

/** The published description of a declared operation. */
export function findPublished(operation, published) {
  return published.find((own) => isSame(operation, own));
}

function isSame(operation, { method, path }) {
  return operation.method === method && operation.path === path;
}

// --- parameters ------------------------------------------------------------

function compareParameters(operation, published) {
  const key = (parameter) => `${parameter.in} ${parameter.name}`;
  const own = new Map(operation.parameters.map((parameter) => [key(parameter), parameter]));
  const others = new Map(published.parameters.map((parameter) => [key(parameter), parameter]));
  return [...new Set([...own.keys(), ...others.keys()])].flatMap((name) => {
    const place = `${operation.name} ${name}`;
    if (!others.has(name)) return [`${place}: declared, not published`];
    if (!own.has(name)) return [`${place}: published, not declared`];
    return compareFacets(
      place,
      publishedFacets(others.get(name), published.resolve),
      declaredFacets(own.get(name)),
    );
  });
}

function compareFacets(place, published, declared) {
  const tell = (value) => (value === undefined ? "none" : JSON.stringify(value));
  return [...new Set([...Object.keys(published), ...Object.keys(declared)])]
    .map((facet) => [facet, tell(published[facet]), tell(declared[facet])])
    .filter(([, theirs, ours]) => theirs !== ours)
    .map(([facet, theirs, ours]) => `${place}: ${facet}: published ${theirs}, declared ${ours}`);
}

/** Every keyword that demands something, so that an unknown one is a difference too. */
function publishedFacets({ required = false, schema }, resolve) {
  const demands = Object.entries(resolve(schema)).filter(([keyword]) => !WORDS.includes(keyword));
  return { required, ...Object.fromEntries(demands) };
}

function declaredFacets({ kind, required, known, minimum, maximum, minLength, default: value }) {
  const facets = {
    text: { type: "string", minLength },
    id: { type: "string", format: "path-segment" },
    ulid: { type: "string", format: "ulid" },
    date: { type: "string", format: "date or date-time" },
    integer: {
      type: "integer",
      minimum,
      maximum: maximum === MAX_SAFE_INTEGER ? "2^53 - 1" : maximum,
      default: value,
    },
    page: { type: "integer", minimum, maximum },
    oneOf: { type: "string", enum: known },
  }[kind];
  if (facets === undefined) throw new Error(`a parameter of an unknown kind, ${kind}`);
  return { required, ...facets };
}

// --- responses -------------------------------------------------------------

function compareResponses(operation, { responses, resolve }) {
  const isSuccess = (status) => /^2\d\d$/.test(status);
  const statuses = Object.keys(responses);
  const successes = statuses.filter(isSuccess);
  const lines = successes.flatMap((status) =>
    compareKind(operation.result.name, responses[status], operation.result, resolve),
  );
  if (successes.length !== 1) lines.push(`${operation.name}: ${successes.length} are successes`);
  const error = ERRORS[operation.name.split(".")[0]];
  for (const status of statuses.filter((status) => !isSuccess(status))) {
    lines.push(...compareKind(error.name, responses[status], error, resolve));
  }
  return lines;
}

/** Compares a value that is there and not `null`. */
function compareKind(place, schema, declared, resolve) {
  const { type, schema: published } = normalize(schema, resolve);
  if (declared.kind === "list" && type === "array") {
    return compareValue(`${place}[]`, published.items, declared.items, resolve, true);
  }
  if (declared.kind === "object" && type === "object") {
    return compareMembers(published, declared, resolve);
  }
  if (declared.kind === "union" && type === "anyOf") {
    return compareUnion(published.anyOf, declared, resolve);
  }
  const [theirs, ours] = [describePublished(type, published), describeDeclared(declared)];
  return theirs === ours ? [] : [`${place}: published ${theirs}, declared ${ours}`];
}

/** Compares a value that may be missing or `null`. */
function compareValue(place, schema, declared, resolve, isRequired) {
  const { isNullable } = normalize(schema, resolve);
  const isSure = isRequired && !isNullable;
  const value = declared.kind === "nullable" ? declared.value : declared;
  const lines = compareKind(place, schema, value, resolve);
  if (isSure && declared.kind === "nullable") {
    lines.push(`${place}: published as always there, declared nullable`);
  }
  if (!isSure && declared.kind !== "nullable") {
    const published = isRequired ? "nullable" : "optional";
    lines.push(`${place}: published as ${published}, declared as always there`);
  }
  return lines;
}

function compareMembers({ properties, required = [] }, { name, members }, resolve) {
  const names = new Set([...Object.keys(properties), ...Object.keys(members)]);
  return [...names].flatMap((member) => {
    const place = `${name}.${member}`;
    if (!(member in properties)) return [`${place}: declared, not published`];
    if (!(member in members)) return [`${place}: published, not declared`];
    const isRequired = required.includes(member);
    return compareValue(place, properties[member], members[member], resolve, isRequired);
  });
}

/** Types with the same members belong together. */
function compareUnion(anyOf, { name, variants, otherwise }, resolve) {
  const shape = (members) => Object.keys(members).sort().join(", ");
  const theirs = new Map(anyOf.map(resolve).map((schema) => [shape(schema.properties), schema]));
  const types = [...Object.values(variants), otherwise];
  const ours = new Map(types.map((type) => [shape(type.members), type]));
  return [...new Set([...theirs.keys(), ...ours.keys()])].flatMap((members) => {
    if (!theirs.has(members)) return [`${name} with ${members}: declared, not published`];
    if (!ours.has(members)) return [`${name} with ${members}: published, not declared`];
    return compareMembers(theirs.get(members), ours.get(members), resolve);
  });
}

/** A schema without what makes it nullable, which OpenAPI 3.0 and 3.1 say in three ways. */
function normalize(schema, resolve) {
  const resolved = resolve(schema);
  const isNull = (other) => resolve(other).type === "null";
  if (resolved.anyOf) {
    const anyOf = resolved.anyOf.filter((other) => !isNull(other));
    const isNullable = anyOf.length < resolved.anyOf.length;
    if (anyOf.length === 1) return { ...normalize(anyOf[0], resolve), isNullable };
    return { type: "anyOf", schema: { anyOf }, isNullable };
  }
  const types = [resolved.type].flat();
  const [type, ...others] = types.filter((type) => type !== "null");
  if (type === undefined || others.length > 0) {
    throw new Error(`a schema that is not understood: ${JSON.stringify(resolved)}`);
  }
  const isNullable = resolved.nullable === true || types.includes("null");
  return { type, schema: resolved, isNullable };
}

function describePublished(type, { enum: known, format, minimum, maximum }) {
  if (type === "string" && known) return known.join(" | ");
  if (type === "string") return format ? `text in the format ${format}` : "text";
  const bounds = [
    minimum !== undefined && ` from ${minimum}`,
    maximum !== undefined && ` to ${maximum}`,
  ];
  return [type, ...bounds].filter(Boolean).join("");
}

function describeDeclared({ kind, known }) {
  switch (kind) {
    case "openEnum":
      return [...known, "any other text"].join(" | ");
    case "tag":
      return known.join(" | ");
    case "count":
      return "integer from 0 to 2^53 - 1";
    case "flag":
      return "boolean";
    default:
      return kind;
  }
}
