/** The security header fields of the gateway's own pages. */
import assert from "node:assert/strict";

export function assertGuarded(answer) {
  const policy = answer.header("content-security-policy");
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"]) {
    assert.ok(policy?.includes(part), `${part} in ${policy}`);
  }
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|\*|https?:/);
  for (const [name, value] of Object.entries({
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  })) {
    assert.equal(answer.header(name), value, name);
  }
  assert.equal(answer.header("access-control-allow-origin"), undefined);
  assert.equal(answer.header("set-cookie"), undefined);
}
