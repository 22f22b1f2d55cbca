/** Names of the package's errors. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as quillgate from "quillgate";
import { WebhookVerificationError } from "quillgate/webhooks";

const { QuillgateError, ValidationError } = quillgate;

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
