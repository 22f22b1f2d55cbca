/** Good tokens at a project or an operation that they do not open. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertProblem, EVERY_SCOPE, JOBS, PROJECT } from "../gate.mjs";
import {
  assertRefused,
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
  const elsewhere = (what, token) =>
    test(`is refused: ${what}`, () => assertRefused(bearer(token()), NOT_ALLOWED));
  elsewhere("a token of the gateway for another", () => own({ projects: [OTHER] }));
  elsewhere("a token of the gateway for none", () => own({ projects: [] }));
  elsewhere("a token of the gateway for a star", () => own({ projects: ["*", "demo-*", "demo"] }));
  elsewhere("a token of the gateway for lookalikes", () =>
    own({ projects: ["Demo-docs", `${PROJECT} `] }),
  );
  elsewhere("a rule that leads elsewhere", () => foreign({ repository: "acme/elsewhere" }));
  elsewhere("another issuer's rule", () => issuers.partner.mint(workflow({}, issuers.partner)));
  elsewhere("a foreign token that claims it itself", () =>
    foreign({ repository: "acme/elsewhere", projects: [PROJECT], project: PROJECT }),
  );

  for (const [what, changes] of [
    ["a longer repository", { repository: "acme/docs-evil" }],
    ["a repository with a prefix", { repository: "evil/acme/docs" }],
    ["a repository cut short", { repository: "acme/doc" }],
    ["a repository in capitals", { repository: "ACME/docs" }],
    ["a repository and a space", { repository: "acme/docs " }],
    ["a repository and a NUL", { repository: "acme/docs\u0000" }],
    ["a repository in another alphabet", { repository: "аcme/docs" }],
    ["a pattern", { repository: "*" }],
    ["a list of other repositories", { repository: ["acme/docs2"] }],
    ["a list within a list", { repository: [["acme/docs"]] }],
    ["an object", { repository: { "acme/docs": true } }],
    ["the rule's own list", { ref: '["refs/heads/main","refs/heads/next"]' }],
    ["a longer ref", { ref: "refs/heads/main2" }],
    ["a ref below", { ref: "refs/heads/main/x" }],
    ["a tag", { ref: "refs/tags/main" }],
    ["a pull request", { ref: "refs/pull/1/merge" }],
    ["no ref", { ref: undefined }],
    ["a null for ref", { ref: null }],
    [
      "another repository whose subject is the right one",
      { repository: "evil/docs", sub: "repo:acme/docs" },
    ],
    ["true", { repository: true }],
  ]) {
    test(`is refused: no rule has ${what}`, async () => {
      await assertRefused(bearer(foreign(changes)), NOT_MAPPED, [...operations(), DEEP]);
    });
  }
});

describe("scope creep", () => {
  const wanting = (scope) => operations().filter((one) => one.scope === scope);

  for (const scope of [...SCOPES, "gateway:operate"]) {
    test(`is refused: each operation that needs ${scope} with any other scope`, async () => {
      const others = [...SCOPES, "gateway:operate"].filter((other) => other !== scope);
      const asked = scope === "gateway:operate" ? [DEEP] : wanting(scope);
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
        await assertRefused(bearer(own({ scope: held })), lacks(scope), asked);
      }
      for (const other of others.filter((one) => SCOPES.includes(one))) {
        await assertRefused(bearer(foreign(narrow(other))), lacks(scope), asked);
      }
    });
  }

  test("is refused: a foreign token that grants itself more", async () => {
    const greedy = {
      ...{ scope: `${EVERY_SCOPE} gateway:operate`, scp: SCOPES, permissions: SCOPES },
      ...{ projects: ["*", PROJECT, OTHER], quota: 1_000_000, roles: ["admin"] },
    };
    const token = foreign({ ...narrow("jobs:read"), ...greedy });
    await assertRefused(bearer(token), lacks("analytics:read"), wanting("analytics:read"));
    await assertRefused(bearer(token), lacks("jobs:create"), wanting("jobs:create"));
    await assertRefused(bearer(token), lacks("gateway:operate"), [DEEP]);
    await assertRefused(bearer(token), NOT_ALLOWED, operations(OTHER));
  });

  test("is refused: one rule's project with another's scope", async () => {
    const token = foreign({ repository: "acme/split" });
    await assertRefused(bearer(token), lacks("analytics:read"), wanting("analytics:read"));
    const jobs = operations(OTHER).filter(({ scope }) => scope === "jobs:read");
    await assertRefused(bearer(token), lacks("jobs:read"), jobs);
  });

  test("is refused: a quota of its own above the rule's", async () => {
    const token = foreign({ repository: "acme/nothing", quota: { "create-job": 100 } });
    const answer = await gate.post(JOBS, { prompt: "x" }, bearer(token));
    assertProblem(answer, 429, "quota-exceeded");
    assert.ok(Number(answer.header("retry-after")) > 0);
  });

  function narrow(scope) {
    return { repository: "acme/narrow", environment: `only ${scope}` };
  }
});
