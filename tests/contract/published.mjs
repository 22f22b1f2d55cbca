/**
 * The descriptions that the platform publishes of itself. They are not ours to copy, so they are
 * read from the folder that `UPSTREAM_DESCRIPTIONS` names.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const FILES = ["agent.openapi.json", "analytics.openapi.json"];
const FOLDER = process.env.UPSTREAM_DESCRIPTIONS;

/** Why tests that need the descriptions are skipped; `false` when they are there. */
export const SKIP =
  !FOLDER &&
  `UPSTREAM_DESCRIPTIONS names no folder with ${FILES.join(" and ")}, so nothing is known`;

/**
 * @typedef {object} PublishedOperation
 * @property {string} method
 * @property {string} path
 * @property {{ name: string, in: string, required: boolean, schema: object }[]} parameters those of
 *   the body too
 * @property {Record<string, object>} responses the schema of each status
 * @property {Resolve} resolve
 *
 * @typedef {(node: object) => object} Resolve follows `$ref`
 */

/** Every operation of all descriptions that is not deprecated. */
export async function readPublished() {
  const texts = await Promise.all(FILES.map((file) => readFile(join(FOLDER, file), "utf8")));
  return texts.flatMap((text) => listOperations(JSON.parse(text)));
}

/**
 * The operations of a description that are not deprecated.
 *
 * @returns {PublishedOperation[]}
 */
export function listOperations(description) {
  const resolve = resolver(description);
  return Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => !operation.deprecated)
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        parameters: [
          ...(operation.parameters ?? []).map(resolve),
          ...bodyMembers(operation, resolve),
        ],
        responses: mapValues(operation.responses, (response) => contentOf(resolve(response))),
        resolve,
      })),
  );
}

function resolver(description) {
  return function resolve(node) {
    if (node.$ref === undefined) return node;
    const keys = node.$ref.replace(/^#\//, "").split("/");
    const found = keys.reduce(
      (place, key) => place?.[key.replaceAll("~1", "/").replaceAll("~0", "~")],
      description,
    );
    if (found === undefined) throw new Error(`${node.$ref} leads nowhere`);
    return resolve(found);
  };
}

/** The members of a JSON body, as parameters. */
function bodyMembers(operation, resolve) {
  if (operation.requestBody === undefined) return [];
  const schema = resolve(contentOf(resolve(operation.requestBody)));
  const required = schema.required ?? [];
  return Object.entries(schema.properties).map(([name, schema]) => ({
    name,
    in: "body",
    required: required.includes(name),
    schema,
  }));
}

function contentOf({ content }) {
  return content["application/json"].schema;
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

/**
 * A schema that holds all that it refers to, and forbids members that it does not name.
 *
 * @param {object} schema
 * @param {Resolve} resolve
 */
export function close(schema, resolve) {
  const { properties, items, anyOf, ...rest } = resolve(schema);
  const inner = (schema) => close(schema, resolve);
  return {
    ...rest,
    ...(properties && { properties: mapValues(properties, inner), additionalProperties: false }),
    ...(items && { items: inner(items) }),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
  };
}
