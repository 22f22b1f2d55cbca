/** The command that prints a receiver's webhook keys. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";
import { deriveKeys } from "../../scripts/webhook_key.mjs";
import { runCommand } from "../cli/command_line.mjs";

const buildSecret = (byte, length = 32) => `whsec_${Buffer.alloc(length, byte).toString("base64")}`;
const SECRET = buildSecret(7);
const URL_ = "https://hooks.example/quillgate?a=b";
const RECEIVER = ["--project", "demo-docs", "--url", URL_];
/** The same key as in `worker/tests/decisions/jobs/webhook/delivery.rs`. */
const KEY = "whsec_i8mj8aaEeiFIr10Ai9Q0MW3SSFpJRxPr+W9YCcfZZQc=";

function webhookKey(args, { secret, input } = {}) {
  const options = { env: { WEBHOOK_SECRET: secret ?? "" }, input, folder: join(ROOT, "gateway") };
  return runCommand(["webhook", "key", ...args], options);
}

test("prints the key that the gateway signs with", async () => {
  for (const source of [{ secret: SECRET }, { input: `${SECRET}\n` }]) {
    const { code, stdout, stderr } = await webhookKey(RECEIVER, source);
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `${KEY}\n`, stderr: "" });
  }
});

test("derives a key per project and URL, in which the case of scheme and host does not matter", () => {
  const key = (project, url) => deriveKeys({ project, url }, SECRET)[0];
  assert.equal(key("demo-docs", "HTTPS://Hooks.Example/quillgate?a=b"), KEY);
  const others = [
    ["demo-docs", "https://hooks.example/quillgate?a=c"],
    ["demo-docs", "https://hooks.example/Quillgate?a=b"],
    ["demo-docs", "https://hooks.example:8443/quillgate?a=b"],
    ["demo-doc", URL_],
  ].map(([project, url]) => key(project, url));
  assert.equal(new Set([KEY, ...others]).size, others.length + 1);
  for (const local of ["127.0.0.1:9000/", "localhost/", "127.0.0.1/hook", "[::1]/x", "localhost"]) {
    assert.match(key("demo-docs", `http://${local}`), /^whsec_[A-Za-z0-9+/]{43}=$/, local);
  }
});

test("reports invalid arguments without printing a secret or a URL", async () => {
  const hidden = "hidden-8c1e";
  const project = ["--project", "demo-docs"];
  for (const [args, secret = SECRET] of [
    [[]],
    [project],
    [["--url", URL_]],
    [["--project", "a/b", "--url", URL_]],
    [RECEIVER, null],
    [RECEIVER, `whsec_${hidden}`],
    [RECEIVER, `${SECRET},`],
    [RECEIVER, buildSecret(1, 23)],
    [RECEIVER, buildSecret(1, 65)],
    [[...RECEIVER, "--secret", hidden]],
    [[...RECEIVER, hidden]],
    [[...project, "--url", `http://hooks.example/${hidden}`]],
    [[...project, "--url", `https://${hidden}@hooks.example/`]],
    [[...project, "--url", `https://hooks.example/#${hidden}`]],
    [[...project, "--url", `https://hooks.example/${hidden.repeat(200)}`]],
  ]) {
    const { code, stdout, stderr } = await webhookKey(args, { secret });
    assert.deepEqual([code, stdout], [2, ""], args.join(" "));
    assert.match(stderr, /^quillgate: .+\n/);
    assert.ok(!stderr.includes(hidden), stderr);
  }
});
