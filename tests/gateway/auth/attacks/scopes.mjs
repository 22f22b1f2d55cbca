/**
 * Attacks with valid tokens. The gateway rejects requests for projects and operations that the
 * token does not cover.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertProblem, EVERY_SCOPE, JOBS, PROJECT } from "../../recorded_gateway.mjs";
import {
  assertRejected,
  bearer,
  DEEP,
  foreign,
  gate,
  issuers,
  lacks,
  NOT_ALLOWED,
  NOT_MAPPED,
  OTHER,
  operations,
  own,
  SCOPES,
  workflow,
} from "./fixtures.mjs";

describe("a replaced project", () => {
  const testOtherProject = (what, token) =>
    test(`rejects ${what} for this project`, () => assertRejected(bearer(token()), NOT_ALLOWED));
  testOtherProject("a gateway token for another project", () => own({ projects: [OTHER] }));
  testOtherProject("a gateway token for no project", () => own({ projects: [] }));
  testOtherProject("a gateway token for project patterns", () =>
    own({ projects: ["*", "demo-*", "demo"] }),
  );
  testOtherProject("a gateway token for similar project names", () =>
    own({ projects: ["Demo-docs", `${PROJECT} `] }),
  );
  testOtherProject("a token whose rule is for another project", () =>
    foreign({ repository: "acme/elsewhere" }),
  );
  testOtherProject("a token of an issuer whose rule is for another project", () =>
    issuers.partner.mint(workflow({}, issuers.partner)),
  );
  testOtherProject("an issuer's token that claims the project itself", () =>
    foreign({ repository: "acme/elsewhere", projects: [PROJECT], project: PROJECT }),
  );

  for (const [what, changes] of [
    ["a longer repository", { repository: "acme/docs-evil" }],
    ["a repository with a prefix", { repository: "evil/acme/docs" }],
    ["a truncated repository", { repository: "acme/doc" }],
    ["a repository in capitals", { repository: "ACME/docs" }],
    ["a space after the repository", { repository: "acme/docs " }],
    ["a NUL after the repository", { repository: "acme/docs\u0000" }],
    ["a Cyrillic letter in the repository", { repository: "аcme/docs" }],
    ["an asterisk as repository", { repository: "*" }],
    ["an array of other repositories", { repository: ["acme/docs2"] }],
    ["a nested array as repository", { repository: [["acme/docs"]] }],
    ["an object as repository", { repository: { "acme/docs": true } }],
    ["the rule's array as a string", { ref: '["refs/heads/main","refs/heads/next"]' }],
    ["a longer ref", { ref: "refs/heads/main2" }],
    ["a ref below the rule's", { ref: "refs/heads/main/x" }],
    ["a tag as ref", { ref: "refs/tags/main" }],
    ["a pull request as ref", { ref: "refs/pull/1/merge" }],
    ["no ref", { ref: undefined }],
    ["null as ref", { ref: null }],
    [
      "another repository and a matching subject",
      { repository: "evil/docs", sub: "repo:acme/docs" },
    ],
    ["true as repository", { repository: true }],
  ]) {
    test(`matches no rule to a token with ${what}`, async () => {
      await assertRejected(bearer(foreign(changes)), NOT_MAPPED, [...operations(), DEEP]);
    });
  }
});

describe("scope creep", () => {
  const operationsFor = (scope) => operations().filter((one) => one.scope === scope);

  for (const scope of [...SCOPES, "gateway:operate"]) {
    test(`rejects every other scope for operations that require ${scope}`, async () => {
      const others = [...SCOPES, "gateway:operate"].filter((other) => other !== scope);
      const targets = scope === "gateway:operate" ? [DEEP] : operationsFor(scope);
      for (const held of [
        ...others,
        others.join(" "),
        scope.toUpperCase(),
        `${scope}x`,
        `${scope},${others[0]}`,
        scope.split(":")[0],
        "*",
        "",
      ]) {
        await assertRejected(bearer(own({ scope: held })), lacks(scope), targets);
      }
      for (const other of others.filter((one) => SCOPES.includes(one))) {
        await assertRejected(bearer(foreign(narrow(other))), lacks(scope), targets);
      }
    });
  }

  test("ignores scopes and projects that an issuer's token grants itself", async () => {
    const greedy = {
      ...{ scope: `${EVERY_SCOPE} gateway:operate`, scp: SCOPES, permissions: SCOPES },
      ...{ projects: ["*", PROJECT, OTHER], quota: 1_000_000, roles: ["admin"] },
    };
    const token = foreign({ ...narrow("jobs:read"), ...greedy });
    await assertRejected(bearer(token), lacks("analytics:read"), operationsFor("analytics:read"));
    await assertRejected(bearer(token), lacks("jobs:create"), operationsFor("jobs:create"));
    await assertRejected(bearer(token), lacks("gateway:operate"), [DEEP]);
    await assertRejected(bearer(token), NOT_ALLOWED, operations(OTHER));
  });

  test("rejects the project of one rule with the scope of another rule", async () => {
    const token = foreign({ repository: "acme/split" });
    await assertRejected(bearer(token), lacks("analytics:read"), operationsFor("analytics:read"));
    const jobs = operations(OTHER).filter(({ scope }) => scope === "jobs:read");
    await assertRejected(bearer(token), lacks("jobs:read"), jobs);
  });

  test("ignores a quota in an issuer's token that is higher than its rule's", async () => {
    const token = foreign({ repository: "acme/nothing", quota: { "create-job": 100 } });
    const answer = await gate.post(JOBS, { prompt: "x" }, bearer(token));
    assertProblem(answer, 429, "quota-exceeded");
    assert.ok(Number(answer.header("retry-after")) > 0);
  });

  function narrow(scope) {
    return { repository: "acme/narrow", environment: `only ${scope}` };
  }
});
