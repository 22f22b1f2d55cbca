/** The comparison of the contract tests, applied to a small description. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { listDifferences } from "./compare.mjs";
import { listOperations } from "./published.mjs";

const DESCRIPTION = {
  paths: {
    "/v1/analytics/{projectId}/terms": {
      get: {
        parameters: [
          { $ref: "#/components/parameters/limit" },
          { name: "sort", in: "query", schema: { type: "string", enum: ["hits", "term"] } },
          { name: "cursor", in: "query", schema: { type: "string", format: "ulid" } },
        ],
        responses: {
          200: {
            content: { "application/json": { schema: { $ref: "#/components/schemas/Terms" } } },
          },
        },
      },
    },
    "/v1/old": { get: { deprecated: true, responses: {} } },
  },
  components: {
    parameters: {
      limit: {
        name: "limit",
        in: "query",
        required: false,
        schema: { type: "integer", minimum: 1, maximum: 100, default: 50, description: "Rows" },
      },
    },
    schemas: {
      Terms: {
        type: "object",
        required: ["terms", "hasMore"],
        properties: {
          terms: { type: "array", items: { $ref: "#/components/schemas/Term" } },
          next: { type: ["string", "null"] },
          hasMore: { type: "boolean" },
        },
      },
      Term: {
        type: "object",
        required: ["term", "page", "rate", "link", "kind"],
        properties: {
          term: { type: "string" },
          page: { type: "string", nullable: true },
          rate: { type: "number" },
          link: { anyOf: [{ type: "string" }, { type: "null" }] },
          kind: {
            anyOf: [
              { type: "object", required: ["tag"], properties: { tag: { type: "string" } } },
              {
                type: "object",
                required: ["tag", "more"],
                properties: { tag: { type: "string" }, more: { type: "boolean" } },
              },
            ],
          },
        },
      },
    },
  },
};

const nullable = (value) => ({ kind: "nullable", value });
const text = { kind: "text" };
const OPERATION = {
  name: "analytics.terms",
  method: "GET",
  path: "/v1/analytics/{projectId}/terms",
  parameters: [
    {
      name: "limit",
      in: "query",
      required: false,
      kind: "integer",
      minimum: 1,
      maximum: 100,
      default: 50,
    },
    { name: "sort", in: "query", required: false, kind: "oneOf", known: ["hits", "term"] },
    { name: "cursor", in: "query", required: false, kind: "ulid" },
  ],
  result: {
    kind: "object",
    name: "Terms",
    members: {
      terms: {
        kind: "list",
        items: {
          kind: "object",
          name: "Term",
          members: {
            term: text,
            page: nullable(text),
            rate: { kind: "number" },
            link: nullable(text),
            kind: {
              kind: "union",
              name: "TermKind",
              tag: "tag",
              variants: {
                more: {
                  kind: "object",
                  name: "MoreKind",
                  members: { tag: text, more: { kind: "flag" } },
                },
              },
              otherwise: { kind: "object", name: "OtherKind", members: { tag: text } },
            },
          },
        },
      },
      next: nullable(text),
      hasMore: { kind: "flag" },
    },
  },
};

/** Returns the differences after a change of either side. */
function compareAfter(change) {
  const [description, operation] = structuredClone([DESCRIPTION, OPERATION]);
  const { parameters, responses } = description.paths[operation.path].get;
  const { Terms, Term } = description.components.schemas;
  const row = operation.result.members.terms.items.members;
  change({ description, operation, parameters, responses, Terms, Term, row });
  return listDifferences([operation], listOperations(description));
}

test("the comparison finds no difference in equal descriptions and ignores deprecated operations", () => {
  assert.deepEqual(
    compareAfter(() => {}),
    [],
  );
});

describe("the comparison", () => {
  const cases = {
    "another bound": [
      ({ description }) => {
        description.components.parameters.limit.schema.maximum = 250;
      },
      ["analytics.terms query limit: maximum: published 250, declared 100"],
    ],
    "another default": [
      ({ operation }) => {
        operation.parameters[0].default = 10;
      },
      ["analytics.terms query limit: default: published 50, declared 10"],
    ],
    "an unknown keyword": [
      ({ parameters }) => {
        parameters[2].schema.pattern = "^0";
      },
      ['analytics.terms query cursor: pattern: published "^0", declared none'],
    ],
    "another set of values": [
      ({ parameters }) => {
        parameters[1].schema.enum.push("age");
      },
      [
        'analytics.terms query sort: enum: published ["hits","term","age"], declared ["hits","term"]',
      ],
    ],
    "a parameter that became required": [
      ({ parameters }) => {
        parameters[2].required = true;
      },
      ["analytics.terms query cursor: required: published true, declared false"],
    ],
    "a parameter in another place": [
      ({ parameters }) => {
        parameters[2].in = "header";
      },
      [
        "analytics.terms query cursor: declared, not published",
        "analytics.terms header cursor: published, not declared",
      ],
    ],
    "another path": [
      ({ operation }) => {
        operation.path = "/v1/analytics/{projectId}/words";
      },
      [
        "analytics.terms: GET /v1/analytics/{projectId}/words is not published",
        "GET /v1/analytics/{projectId}/terms is published, not declared",
      ],
    ],
    "a property that may be null": [
      ({ Term }) => {
        Term.properties.term.type = ["string", "null"];
      },
      ["Term.term: published as nullable, declared as required"],
    ],
    "a property that may be missing": [
      ({ Terms }) => {
        Terms.required = ["terms"];
      },
      ["Terms.hasMore: published as optional, declared as required"],
    ],
    "a property that became required": [
      ({ Terms }) => {
        Terms.required.push("next");
        Terms.properties.next = { type: "string" };
      },
      ["Terms.next: published as required, declared nullable"],
    ],
    "properties that only one side has": [
      ({ Term, row }) => {
        Term.properties.age = { type: "number" };
        row.size = text;
      },
      ["Term.age: published, not declared", "Term.size: declared, not published"],
    ],
    "another type": [
      ({ row }) => {
        row.rate = { kind: "count" };
      },
      ["Term.rate: published number, declared integer from 0 to 2^53 - 1"],
    ],
    "an object where a list is published": [
      ({ Terms }) => {
        Terms.properties.terms = { $ref: "#/components/schemas/Term" };
      },
      ["Terms.terms: published object, declared list"],
    ],
    "another shape of a union": [
      ({ Term }) => {
        Term.properties.kind.anyOf[1].properties.less = { type: "boolean" };
      },
      [
        "TermKind with less, more, tag: published, not declared",
        "TermKind with more, tag: declared, not published",
      ],
    ],
    "a refusal of another shape": [
      ({ responses }) => {
        const schema = {
          type: "object",
          required: [],
          properties: { problem: { type: "string" } },
        };
        responses[400] = { content: { "application/json": { schema } } };
      },
      [
        "AnalyticsError.problem: published, not declared",
        "AnalyticsError.error: declared, not published",
        "AnalyticsError.details: declared, not published",
      ],
    ],
    "a second success": [
      ({ responses }) => {
        responses[202] = responses[200];
      },
      ["analytics.terms: 2 successes are published"],
    ],
  };

  for (const [name, [change, lines]] of Object.entries(cases)) {
    test(`the comparison finds ${name}`, () => assert.deepEqual(compareAfter(change), lines));
  }

  test("the comparison rejects a schema that it does not support", () => {
    const change = ({ Term }) => {
      Term.properties.term = { type: ["string", "number"] };
    };
    assert.throws(() => compareAfter(change), /unsupported schema/);
  });
});
