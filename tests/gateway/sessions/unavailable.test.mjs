import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openSession } from "../browser.mjs";
import { assertProblem, useGate } from "../recorded_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";

/** The source of a Worker that wraps the built Worker. */
const SOURCE = `
  import worker, { OrgGate, ProjectGate, Session as SessionObject } from ${JSON.stringify(BUILT_SCRIPT)};
  let failures = 0;
  const open = new Set();
  export { OrgGate, ProjectGate };
  export class Session extends SessionObject {
    open(record, ends) {
      open.add(this.ctx.id.toString());
      return super.open(record, ends);
    }
    end() {
      if (failures > 0) {
        failures -= 1;
        throw new Error("unreachable");
      }
      open.delete(this.ctx.id.toString());
      return super.end();
    }
  }
  export default {
    fetch(request, env, context) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname !== "/v1/instrumented") return worker.fetch(request, env, context);
      failures = Number(searchParams.get("failures"));
      return Response.json({ open: open.size });
    },
  };
`;

describe("a new session while the previous one cannot be ended", () => {
  const config = configWith({ source: SOURCE });
  const gate = useGate("sessions-unavailable", { gateway: { config } });

  /** Makes the next `failures` attempts to end a session fail. */
  async function failEnds(failures) {
    const target = `/v1/instrumented?failures=${failures}`;
    return (await gate.get(target, { authorization: null })).json.open;
  }

  test("is removed, and the previous one stays open", async () => {
    const browser = await openSession(gate);
    const { cookie } = browser;
    assert.equal(await failEnds(1), 1);
    const request = { method: "POST", target: "/session", json: { token: gate.token() } };
    const failed = await browser.send(request);
    assertProblem(failed, 503, "object-unavailable");
    assert.equal(failed.header("set-cookie"), undefined);
    assert.equal(await failEnds(0), 1);
    assert.equal(browser.cookie, cookie);
    assert.equal((await browser.get("/session")).status, 200);

    assert.equal((await browser.send(request)).status, 201);
    assert.notEqual(browser.cookie, cookie);
    assert.equal(await failEnds(0), 1);
  });
});
