/**
 * Reads the OpenAPI descriptions that Mintlify publishes. This repository has no copy of them, so
 * `UPSTREAM_DESCRIPTIONS` names a folder with them.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export const FILES = ["agent.openapi.json", "analytics.openapi.json", "project.openapi.json"];
const FOLDER = process.env.UPSTREAM_DESCRIPTIONS;

/** The reason to skip tests that need the descriptions, or `false`. */
export const SKIP =
  !FOLDER && `UPSTREAM_DESCRIPTIONS is not set to a folder with ${FILES.join(", ")}`;

export async function readPublished() {
  const texts = await Promise.all(FILES.map((file) => readFile(join(FOLDER, file), "utf8")));
  return texts.flatMap((text) => listOperations(JSON.parse(text)));
}

export function listOperations(description) {
  const resolve = makeResolver(description);
  // The servers of some descriptions have a path, such as `/v1`.
  const prefix = new URL(description.servers[0].url).pathname.replace(/\/$/, "");
  return Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => !operation.deprecated)
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: `${prefix}${path}`,
        parameters: [
          ...(operation.parameters ?? []).map(resolve),
          ...bodyParameters(operation, resolve),
        ],
        responses: mapValues(operation.responses, (response) => contentOf(resolve(response))),
        resolve,
      })),
  );
}

function makeResolver(description) {
  return function resolve(node) {
    if (node.$ref === undefined) return node;
    const keys = node.$ref.replace(/^#\//, "").split("/");
    const found = keys.reduce(
      (place, key) => place?.[key.replaceAll("~1", "/").replaceAll("~0", "~")],
      description,
    );
    if (found === undefined) throw new Error(`${node.$ref} does not exist`);
    return resolve(found);
  };
}

function bodyParameters(operation, resolve) {
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

/** Inlines every reference of a schema and forbids additional properties. */
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
