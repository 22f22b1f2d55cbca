/** Names and advice of the package's errors. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as quillgate from "quillgate";
import { WebhookVerificationError } from "quillgate/webhooks";

const { Client, QuillgateError, ValidationError } = quillgate;
const BUNDLER = /if your bundler left out core_bg\.wasm, import from "quillgate\/inline"$/;
const POLICY = /add 'wasm-unsafe-eval' to script-src of your CSP$/;

describe("The name of an error", () => {
  const classes = Object.entries({ ...quillgate, WebhookVerificationError }).filter(
    ([, { prototype }]) => prototype instanceof Error,
  );
  assert.ok(classes.length > 20);

  test("the name of every error class is its own, writable, and hidden from loops", () => {
    for (const [name, { prototype }] of classes) {
      const expected = { value: name, writable: true, enumerable: false, configurable: true };
      assert.deepEqual(Object.getOwnPropertyDescriptor(prototype, "name"), expected);
    }
  });

  test("a subclass and a caller can set the name of an error", () => {
    class Mine extends QuillgateError {
      constructor(message) {
        super(message);
        this.name = "Mine";
      }
    }
    assert.equal(String(new Mine("own")), "Mine: own");
    const errors = [
      new ValidationError("m", "field", "unknown"),
      new WebhookVerificationError("m", "key"),
    ];
    for (const error of errors) {
      error.name = "Wrapped";
      assert.equal(String(error), "Wrapped: m");
    }
  });
});

describe("The advice of a WasmLoadError", () => {
  const BLOCKED = {
    Chrome:
      "WebAssembly.instantiate(): Compiling or instantiating WebAssembly module violates the following Content Security policy directive because neither 'wasm-eval' nor 'unsafe-eval' is an allowed source of script",
    Firefox: "call to WebAssembly.instantiate() blocked by CSP",
    Safari:
      "Refused to create a WebAssembly object because 'unsafe-eval' or 'wasm-unsafe-eval' is not an allowed source of script in the following policy",
  };
  const adviceFor = async (context, cause) => {
    context.mock.method(WebAssembly, "instantiate", () => Promise.reject(cause));
    const auth = { token: "token-of-a-test" };
    const client = new Client({ baseUrl: "http://localhost:9", projectId: "p", auth });
    const error = await client.agentJobs.get("j1").catch((reason) => reason);
    assert.equal(error.name, "WasmLoadError");
    assert.equal(error.cause, cause);
    return error.message;
  };

  for (const [browser, message] of Object.entries(BLOCKED)) {
    test(`a content security policy in ${browser} gets the advice to allow WebAssembly`, async (context) => {
      const advice = await adviceFor(context, new WebAssembly.CompileError(message));
      assert.match(advice, POLICY);
      assert.doesNotMatch(advice, BUNDLER);
    });
  }

  test("any other cause gets the advice about bundlers", async (context) => {
    for (const cause of [new WebAssembly.CompileError("expected magic word"), undefined, null]) {
      assert.match(await adviceFor(context, cause), BUNDLER);
    }
  });
});
