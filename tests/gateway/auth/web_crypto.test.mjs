import assert from "node:assert/strict";
import { test } from "node:test";
import { Issuer } from "../../harness/issuer.mjs";
import {
  assertProblem,
  EVERY_SCOPE,
  PROJECT,
  trust,
  useGate,
  useServer,
  VIEWS,
} from "../recorded_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";

const config = configWith({
  source: `
    Object.getPrototypeOf(crypto.subtle).verify = async () => {
      throw new Error("verify is out of order");
    };
    export * from ${JSON.stringify(BUILT_SCRIPT)};
    export { default } from ${JSON.stringify(BUILT_SCRIPT)};
  `,
});
const issuer = useServer(new Issuer());
const gate = useGate("web-crypto", () => {
  const rules = [{ claims: { sub: "carol" }, projects: [PROJECT], scope: EVERY_SCOPE }];
  return { gateway: { config, vars: trust(issuer, rules) } };
});

test("returns 500 and logs the cause if WebCrypto fails to verify a signature", async () => {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer.url, sub: "carol", aud: "quillgate", iat: now, exp: now + 60 };
  const token = gate.known(issuer.mint(claims));
  const answer = await gate.get(VIEWS, { authorization: `Bearer ${token}` });
  assertProblem(answer, 500, "internal");
  const { operator } = await gate.logged(answer.header("x-request-id"));
  assert.match(operator, /verify is out of order/);
});
