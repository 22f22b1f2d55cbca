/** Failed connections and proxies, in the package and on the command line. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttps } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import { explainConnection } from "../../pkg/dist/connection_failure.js";
import { Client, ConnectionError } from "../../pkg/dist/node.js";
import { explainResponse } from "../../pkg/dist/opaque_failure.js";
import { ProxyError, readProxies } from "../../pkg/dist/proxy.js";
import { capture } from "../../scripts/child.mjs";
import { makeFolder } from "../harness/folder.mjs";
import { BIN } from "./command_line.mjs";

const GATE = new URL("https://gate.example");
const ADDRESS = /check the address/;
const AUTHORITIES = /NODE_EXTRA_CA_CERTS/;

const failed = (cause) => new TypeError("fetch failed", { cause });
const coded = (code, more) => failed(Object.assign(new Error(code), { code, ...more }));
const tunnel = (status) => {
  const error = new Error(`Proxy response (${status}) !== 200 when HTTP Tunneling`);
  const cause = Object.assign(error, { code: "UND_ERR_ABORTED" });
  return failed(new Error("Request was cancelled.", { cause }));
};
const several = failed(
  Object.assign(new AggregateError([coded("ECONNREFUSED").cause]), { code: "ECONNREFUSED" }),
);
const refusedProxy = coded("ECONNREFUSED", { address: "10.0.0.1", port: 3128 });
const unknownProxy = coded("ENOTFOUND", { hostname: "proxy.corp" });

const FINAL = ["no", false];
const RETRYABLE = ["no", true];
const UNKNOWN = ["maybe", true];
for (const [error, reason, words, advice, [sent, canRetry]] of [
  [coded("ENOTFOUND", { hostname: "gate.example" }), "dns", "resolved", ADDRESS, RETRYABLE],
  [coded("EAI_AGAIN"), "dns", "resolved", ADDRESS, RETRYABLE],
  [coded("ECONNREFUSED", { address: "::1", port: 443 }), "refused", "refuses", ADDRESS, RETRYABLE],
  [several, "refused", "refuses", ADDRESS, RETRYABLE],
  [coded("connect EHOSTUNREACH"), "unreachable", "cannot be reached", ADDRESS, RETRYABLE],
  [coded("UND_ERR_CONNECT_TIMEOUT"), "unreachable", "connections", ADDRESS, RETRYABLE],
  [failed(new Error("bad port")), "port", "port", /another port/, FINAL],
  [coded("CERT_HAS_EXPIRED"), "certificate", "expired", /clock/, FINAL],
  [coded("CERT_NOT_YET_VALID"), "certificate", "not valid yet", /clock/, FINAL],
  [coded("ERR_TLS_CERT_ALTNAME_INVALID"), "certificate", "another name", ADDRESS, FINAL],
  [coded("SELF_SIGNED_CERT_IN_CHAIN"), "certificate", "trusted", AUTHORITIES, FINAL],
  [coded("UNABLE_TO_GET_ISSUER_CERT"), "certificate", "trusted", AUTHORITIES, FINAL],
  [coded("ERR_SSL_WRONG_VERSION_NUMBER"), "tls", "TLS", /is the address http/, FINAL],
  [coded("ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"), "tls", "TLS", /client cert/, FINAL],
  [coded("HPE_INVALID_CONSTANT"), "protocol", "HTTP", ADDRESS, UNKNOWN],
  [tunnel(407), "proxy", "the proxy requires credentials", /percent-encoded/, FINAL],
  [tunnel(403), "proxy", "the proxy does not connect", /NO_PROXY/, FINAL],
  [tunnel(502), "proxy", "the proxy does not connect", /NO_PROXY/, RETRYABLE],
  [refusedProxy, "proxy", "the proxy 10.0.0.1:3128", /HTTPS_PROXY/, RETRYABLE],
  [unknownProxy, "proxy", "the proxy proxy.corp", /HTTPS_PROXY/, RETRYABLE],
  [coded("ECONNRESET"), "interrupted", "broke (ECONNRESET)", /^$/, UNKNOWN],
  [undefined, "interrupted", "no answer from gate.example", /^$/, UNKNOWN],
]) {
  test(`explains ${error?.cause?.code ?? error?.cause?.message} ${error?.cause?.port ?? ""} as ${reason}`, () => {
    const failure = explainConnection(error, GATE);
    assert.deepEqual([failure.reason, failure.sent, failure.canRetry], [reason, sent, canRetry]);
    assert.ok(failure.summary.includes(words), failure.summary);
    assert.match(failure.advice, advice);
  });
}

test("names ALLOWED_ORIGINS for a failure on a page of another origin", () => {
  const firefox = "NetworkError when attempting to fetch";
  for (const message of ["Failed to fetch", "Load failed", firefox]) {
    const error = new TypeError(message);
    const { reason, advice } = explainConnection(error, GATE, "https://docs.example");
    assert.equal(reason, "cors");
    assert.match(advice, /ALLOWED_ORIGINS .*https:\/\/docs\.example/);
    assert.equal(explainConnection(error, GATE, GATE.origin).reason, "interrupted");
  }
});

test("explains redirects, a proxy's 407 and a block of Cloudflare", () => {
  const explain = (status, headers, body) =>
    explainResponse({ status, headers: new Headers(headers) }, body)?.summary;
  assert.match(explain(301, { location: "https://a.example/x?y" }), /to https:\/\/a\.example, /);
  assert.match(explain(302, { location: "/login?next=1" }), /to \/login, /);
  assert.match(explain(407, {}), /the proxy requires credentials/);
  const blocked = { "cf-ray": "8a1", "content-type": "text/html" };
  assert.match(explain(403, blocked), /Cloudflare blocked .*8a1/);
  assert.match(explain(503, { "cf-mitigated": "challenge" }), /Cloudflare blocked/);
  assert.equal(explain(403, { "cf-ray": "8a1" }, { title: "Forbidden" }), undefined);
  assert.equal(explain(301, {}), undefined);
});

test("names NODE_EXTRA_CA_CERTS for an unknown authority, after one attempt", async (t) => {
  const folder = makeFolder(t, "network");
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject];
  const made = spawnSync("openssl", [...args, "-keyout", keyFile, "-out", certFile]);
  if (made.status !== 0) return t.skip("openssl is not installed");
  let attempts = 0;
  const server = createHttps({ key: readFileSync(keyFile), cert: readFileSync(certFile) });
  server.on("connection", () => (attempts += 1));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const url = `https://localhost:${server.address().port}`;
  const client = new Client({ baseUrl: url, projectId: "p", auth: { token: "a.b.c" } });
  await assert.rejects(client.agentJobs.list(), (error) => {
    assert.ok(error instanceof ConnectionError);
    assert.deepEqual([error.reason, error.sent, error.canRetry], ["certificate", "no", false]);
    return true;
  });
  assert.equal(attempts, 1);
  await assert.rejects(client.agentJobs.watchAll().next(), { reason: "certificate" });
  assert.equal(attempts, 2);
  const settings = { QUILLGATE_BASE_URL: url, QUILLGATE_PROJECT_ID: "p", QUILLGATE_TOKEN: "a.b.c" };
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", ...settings };
  for (const command of [["job", "list"], ["doctor"]]) {
    const { stdout, stderr } = await capture(process.execPath, [BIN, ...command], { env });
    assert.match(stdout + stderr, /NODE_EXTRA_CA_CERTS/, command.join(" "));
  }
});

for (const value of [
  "http://me:Pa#ssS3CRET@proxy.example:3128",
  "http://me:Pa/ssS3CRET@proxy.example:3128",
  "http://me:Pa?ssS3CRET@proxy.example:3128",
  "http://me:12#S3CRET@proxy.example:3128",
  "http://me:Pa%zzS3CRET@proxy.example:3128",
  "me:Pa\\S3CRET@proxy.example",
  "http://me:Pa S3CRET@proxy.example",
  "http://proxy.example/S3CRET",
  "http://:S3CRET@",
  "socks5://me:S3CRET@proxy.example:1080",
  "ftp://S3CRET.example",
]) {
  test(`rejects the proxy ${value.replace("S3CRET", "…")} without repeating it`, () => {
    for (const name of ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "all_proxy"]) {
      assert.throws(
        () => readProxies({ [name]: value }),
        (error) =>
          error instanceof ProxyError &&
          error.message.includes(name) &&
          !error.message.includes("S3CRET"),
      );
    }
  });
}

test("reads the proxies of the environment", () => {
  for (const [env, expected] of [
    [{}, undefined],
    [{ HTTPS_PROXY: " \r" }, undefined],
    [{ HTTPS_PROXY: "http://a:1", NO_PROXY: "x, *" }, undefined],
    [{ HTTP_PROXY: "a:1" }, ["http://a:1", "http://a:1", ""]],
    [{ HTTPS_PROXY: "http://a:1\r" }, ["", "http://a:1", ""]],
    [{ HTTPS_PROXY: "http://a:1", https_proxy: "b:2" }, ["", "http://b:2", ""]],
    [{ https_proxy: "", HTTPS_PROXY: "http://a:1" }, ["", "http://a:1", ""]],
    [
      { ALL_PROXY: "proxy", HTTP_PROXY: "https://me:p%23@a", NO_PROXY: "b.example., .c\n" },
      ["https://me:p%23@a", "http://proxy", "b.example,.b.example,.c"],
    ],
    ...[
      ["::1", "::1,[::1]"],
      ["[::1]", "::1,[::1]"],
      ["0:0:0:0:0:0:0:1", "::1,[::1]"],
      ["[0::1]:8787", "[::1]:8787"],
      ["FE80::A", "fe80::a,[fe80::a]"],
      ["::ffff:127.0.0.1", "::ffff:7f00:1,[::ffff:7f00:1]"],
      ["a:1", "a:1,.a:1"],
      ["x::y", "x::y,.x::y"],
    ].map(([given, kept]) => [
      { HTTPS_PROXY: "http://a:1", NO_PROXY: given },
      ["", "http://a:1", kept],
    ]),
  ]) {
    const [http, https, exceptions] = expected ?? [];
    const proxies = expected && { http, https, exceptions };
    assert.deepEqual(readProxies(env), proxies, JSON.stringify(env));
  }
});
