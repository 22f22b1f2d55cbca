/** Behaviour of the client in the cases where clients often differ. */
import { after } from "node:test";
import { rows } from "./behaviour/fixtures.mjs";
import { writeTable } from "./tables.mjs";

// In the order of the document.
import "./behaviour/responses.mjs";
import "./behaviour/retries.mjs";
import "./behaviour/input.mjs";
import "./behaviour/aborts.mjs";
import "./behaviour/waits.mjs";
import "./behaviour/pages.mjs";
import "./behaviour/error_responses.mjs";
import "./behaviour/credentials.mjs";
import "./behaviour/clients.mjs";
import "./behaviour/event_streams.mjs";
import "./behaviour/writes.mjs";
import "./behaviour/browsers.mjs";

after(() => {
  // `--test-name-pattern` may have skipped some rows.
  if (rows.every(({ ran }) => ran)) writeTable("behaviour", rows);
});
