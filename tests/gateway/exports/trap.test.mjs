import assert from "node:assert/strict";
import { test } from "node:test";
import { START_MAIN } from "../../../scripts/build.mjs";
import { caller } from "../analytics_requests.mjs";
import { exportOf, FORMATS, formatRows, newRange, rowsUpstream } from "../expected_exports.mjs";
import { useGate } from "../recorded_gateway.mjs";
import { configWith } from "../wrangler_config.mjs";

const LOCATIONS = { now: "in the Worker", organization: "in the organization's object" };

const gate = useGate("exports-trap", {
  traps: true,
  upstream: { pages: 1000 },
  gateway: {
    config: configWith({ path: START_MAIN }),
    vars: { UPSTREAM_TIMEOUT_SECONDS: "60" },
  },
});
const reader = caller(gate, "rita");

for (const where of Object.keys(LOCATIONS)) {
  for (const format of FORMATS) {
    test(`ends the ${format} export as incomplete after a trap ${LOCATIONS[where]}`, async () => {
      const range = newRange();
      const target = exportOf("views", { format, ...range });
      await gate.upstream.hold({ target: `dateFrom=${range.dateFrom}`, after: 2 });
      const exchange = gate.open(gate.bytes({ target, ...reader }));
      await gate.upstream.untilHeld(1);
      const trap = `/__trap?where=${where}`;
      const trapped = await gate.send({ method: "POST", target: trap, authorization: null });
      assert.equal(trapped.status, 500);
      const answer = await exchange.until(({ complete, closed }) => complete || closed);
      exchange.leave();
      await gate.upstream.release();
      const expected = formatRows("views", format, await rowsUpstream(gate, "views", range));
      assert.ok(answer.complete && answer.status === 200);
      const last =
        format === "csv"
          ? /\n#incomplete,cursor=500,problem=[\w/-]+,?\r\n$/
          : /\n\{"incomplete":\{"cursor":"500","problem":"[\w/-]+"\}\}\n$/;
      assert.match(answer.text, last);
      const again = await gate.get(target, reader);
      assert.deepEqual([again.status, again.text], [200, expected]);
    });
  }
}
