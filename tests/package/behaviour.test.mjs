/** What the package does in the cases that clients get wrong; writes docs/behaviour.md. */
import { after } from "node:test";
import { rows } from "./behaviour/fixtures.mjs";
import { writeTable } from "./tables.mjs";

// One rule each, in the order of the table.
import "./behaviour/answers.mjs";
import "./behaviour/retries.mjs";
import "./behaviour/input.mjs";
import "./behaviour/aborts.mjs";
import "./behaviour/waits.mjs";
import "./behaviour/pages.mjs";
import "./behaviour/refusals.mjs";
import "./behaviour/credentials.mjs";
import "./behaviour/clients.mjs";
import "./behaviour/event_streams.mjs";
import "./behaviour/writes.mjs";
import "./behaviour/job_lists.mjs";
import "./behaviour/browsers.mjs";

after(() => {
  // Not when only some of them were asked for.
  if (rows.every(({ ran }) => ran)) writeTable("behaviour", rows);
});
