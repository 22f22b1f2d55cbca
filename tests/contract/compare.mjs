/** Compares the core's declarations with Mintlify's descriptions: a line for each difference. */

const MAX_SAFE_INTEGER = Number.MAX_SAFE_INTEGER;
/** Keywords that do not constrain a value. */
const ANNOTATIONS = ["description", "example", "nullable"];

/** The bodies of refusals as the core decodes them; see docs/mintlify/rules.md, 7. */
const message = { kind: "nullable", value: { kind: "text" } };
const onlyMessage = (name) => ({ kind: "object", name, members: { error: message } });
const ERRORS = {
  agentJobs: onlyMessage("AgentJobsError"),
  previews: onlyMessage("PreviewsError"),
  automations: onlyMessage("AutomationsError"),
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

export function listDifferences(declared, published) {
  const lines = declared.flatMap((operation) => {
    const counterpart = findPublished(operation, published);
    if (counterpart === undefined) {
      return [`${operation.name}: ${operation.method} ${operation.path} is not published`];
    }
    return [
      ...compareParameters(operation, counterpart),
      ...compareResponses(operation, counterpart),
    ];
  });
  const unknown = published
    .filter((candidate) => !declared.some((operation) => isSame(operation, candidate)))
    .map(({ method, path }) => `${method} ${path} is published, not declared`);
  return [...new Set([...lines, ...unknown])];
}

export function findPublished(operation, published) {
  return published.find((candidate) => isSame(operation, candidate));
}

function isSame(operation, { method, path }) {
  return operation.method === method && operation.path === path;
}

// --- parameters ------------------------------------------------------------

function compareParameters(operation, published) {
  const key = (parameter) => `${parameter.in} ${parameter.name}`;
  const ours = new Map(operation.parameters.map((parameter) => [key(parameter), parameter]));
  const theirs = new Map(published.parameters.map((parameter) => [key(parameter), parameter]));
  return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((name) => {
    const place = `${operation.name} ${name}`;
    if (!theirs.has(name)) return [`${place}: declared, not published`];
    if (!ours.has(name)) return [`${place}: published, not declared`];
    return compareFacets(
      place,
      publishedFacets(theirs.get(name), published.resolve),
      declaredFacets(ours.get(name)),
    );
  });
}

function compareFacets(place, published, declared) {
  const format = (value) => (value === undefined ? "none" : JSON.stringify(value));
  return [...new Set([...Object.keys(published), ...Object.keys(declared)])]
    .map((facet) => [facet, format(published[facet]), format(declared[facet])])
    .filter(([, theirs, ours]) => theirs !== ours)
    .map(([facet, theirs, ours]) => `${place}: ${facet}: published ${theirs}, declared ${ours}`);
}

/** Returns all constraining keywords, so that an unknown one counts as a difference. */
function publishedFacets({ required = false, schema }, resolve) {
  const constraints = Object.entries(resolve(schema)).filter(
    ([keyword]) => !ANNOTATIONS.includes(keyword),
  );
  return { required, ...Object.fromEntries(constraints) };
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
    // The published description has no words for the members of a list.
    listOf: { type: "string", minLength: 1 },
  }[kind];
  if (facets === undefined) throw new Error(`unknown parameter kind ${kind}`);
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
  if (successes.length !== 1)
    lines.push(`${operation.name}: ${successes.length} successes are published`);
  const error = ERRORS[operation.name.split(".")[0]];
  for (const status of statuses.filter((status) => !isSuccess(status))) {
    lines.push(...compareKind(error.name, responses[status], error, resolve));
  }
  return lines;
}

/** Compares a value that is present and not `null`. */
function compareKind(place, schema, declared, resolve) {
  const { type, schema: published } = normalize(schema, resolve);
  if (declared.kind === "list" && type === "array") {
    return compareValue(`${place}[]`, published.items, declared.items, resolve, true);
  }
  if (declared.kind === "object" && type === "object") {
    return compareProperties(published, declared, resolve);
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
  const isPresent = isRequired && !isNullable;
  const value = declared.kind === "nullable" ? declared.value : declared;
  const lines = compareKind(place, schema, value, resolve);
  if (isPresent && declared.kind === "nullable") {
    lines.push(`${place}: published as required, declared nullable`);
  }
  if (!isPresent && declared.kind !== "nullable") {
    const published = isRequired ? "nullable" : "optional";
    lines.push(`${place}: published as ${published}, declared as required`);
  }
  return lines;
}

function compareProperties({ properties, required = [] }, { name, members }, resolve) {
  const names = new Set([...Object.keys(properties), ...Object.keys(members)]);
  return [...names].flatMap((property) => {
    const place = `${name}.${property}`;
    if (!(property in properties)) return [`${place}: declared, not published`];
    if (!(property in members)) return [`${place}: published, not declared`];
    const isRequired = required.includes(property);
    return compareValue(place, properties[property], members[property], resolve, isRequired);
  });
}

/** Compares the types of a union, paired by their property names. */
function compareUnion(anyOf, { name, variants, otherwise }, resolve) {
  const shape = (members) => Object.keys(members).sort().join(", ");
  const theirs = new Map(anyOf.map(resolve).map((schema) => [shape(schema.properties), schema]));
  const types = [...Object.values(variants), otherwise];
  const ours = new Map(types.map((type) => [shape(type.members), type]));
  return [...new Set([...theirs.keys(), ...ours.keys()])].flatMap((members) => {
    if (!theirs.has(members)) return [`${name} with ${members}: declared, not published`];
    if (!ours.has(members)) return [`${name} with ${members}: published, not declared`];
    return compareProperties(theirs.get(members), ours.get(members), resolve);
  });
}

/** Separates a schema from its nullability, which OpenAPI 3.0 and 3.1 express in three ways. */
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
    throw new Error(`unsupported schema: ${JSON.stringify(resolved)}`);
  }
  const isNullable = resolved.nullable === true || types.includes("null");
  return { type, schema: resolved, isNullable };
}

function describePublished(type, { enum: known, format, minimum, maximum }) {
  if (type === "string" && known) return known.join(" | ");
  if (type === "string") return format ? `string in the format ${format}` : "string";
  const bounds = [
    minimum !== undefined && ` from ${minimum}`,
    maximum !== undefined && ` to ${maximum}`,
  ];
  return [type, ...bounds].filter(Boolean).join("");
}

function describeDeclared({ kind, known }) {
  switch (kind) {
    case "openEnum":
      return [...known, "any other string"].join(" | ");
    case "tag":
      return known.join(" | ");
    case "count":
      return "integer from 0 to 2^53 - 1";
    case "flag":
      return "boolean";
    case "text":
      return "string";
    default:
      return kind;
  }
}
