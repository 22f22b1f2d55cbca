/** The OpenAPI description that the gateway serves. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { startGateway } from "../harness/gateway.mjs";
import { newSecret } from "../harness/token.mjs";

const BUILT = new URL("../../worker/build/core/openapi.txt", import.meta.url);

let gateway;
let description;
let datePattern;

before(async () => {
  gateway = await startGateway({
    upstreamUrl: "https://mintlify.invalid",
    adminKey: "mint_unused",
    secret: newSecret(),
  });
  description = await (await fetch(`${gateway.url}/openapi.json`)).json();
  const { parameters } = description.paths["/v1/analytics/{projectId}/views"].get;
  const { schema } = parameters.find(({ name }) => name === "dateFrom");
  datePattern = new RegExp(schema.pattern, "u");
});
after(() => gateway?.stop());

test("the gateway serves the OpenAPI description from its build", () => {
  assert.deepEqual(description, JSON.parse(readFileSync(BUILT, "utf8")));
});

test("the date pattern accepts exactly the days of the calendar", () => {
  const pad = (number) => String(number).padStart(2, "0");
  // The Gregorian calendar repeats after 400 years.
  for (let year = 1900; year < 2300; year += 1) {
    for (let month = 0; month <= 13; month += 1) {
      for (let day = 0; day <= 32; day += 1) {
        const text = `${year}-${pad(month)}-${pad(day)}`;
        const date = new Date(Date.UTC(year, month - 1, day));
        const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
        assert.equal(datePattern.test(text), exists, text);
      }
    }
  }
});

test("the date pattern accepts exactly the times and offsets that exist", () => {
  for (const time of ["00:00", "23:59", "12:00:00", "12:00:59.9", "12:00:00.123456789"]) {
    for (const offset of ["", "Z", "+00:00", "-23:59"]) {
      assert.match(`2024-02-29T${time}${offset}`, datePattern);
    }
  }
  for (const time of ["24:00", "23:60", "12:00:60", "12", "12:00.5", "12:00:00.", "1:00"]) {
    assert.doesNotMatch(`2024-02-29T${time}`, datePattern);
  }
  for (const offset of ["z", "+24:00", "+00:60", "+0000", "+00", " "]) {
    assert.doesNotMatch(`2024-02-29T12:00${offset}`, datePattern);
  }
});
