import assert from "node:assert/strict";
import { test } from "node:test";
import { importRows } from "./source.mjs";

const { formatViewsAddress, parseViewsAddress } = await importRows("views_address.ts");

const read = (search) => parseViewsAddress(new URLSearchParams(search));
const written = (search) => `${new URLSearchParams(formatViewsAddress(read(search)))}`;

test("the address of a report has everything that differs from the defaults", () => {
  assert.equal(written(""), "range=last-28-days");
  const full =
    "from=2026-10-01&to=2026-10-31&compare=previous-year&show=folders&sort=-ai&path=%2Fa";
  assert.equal(written(full), full);
  assert.deepEqual(read(full).range, { from: "2026-10-01", to: "2026-10-31" });
});

test("invalid parts of the address fall back to the defaults", () => {
  const invalid = read("range=never&compare=x&show=y&sort=z");
  assert.deepEqual(invalid, { ...read(""), hasInvalidDates: true });
  assert.equal(read("").comparison, "previous-period");
  assert.equal(read("sort=total").sorting.direction, "ascending");
});

test("invalid dates of a link are reported and replaced by the default", () => {
  const reported = (search) => {
    const { range, hasInvalidDates } = read(search);
    assert.equal(hasInvalidDates, range === "last-28-days" && search !== "");
    return hasInvalidDates;
  };
  assert.equal(reported("from=2026-11-20&to=2026-11-01"), true);
  assert.equal(reported("from=2026-02-30&to=2026-03-01"), true);
  assert.equal(reported("from=2026-11-01"), true);
  assert.equal(reported("from=0026-11-01&to=2026-11-20"), true);
  assert.equal(reported("range=garbage"), true);
  assert.equal(reported("from=2030-01-01&to=2030-01-02"), false);
  assert.equal(reported("range=today"), false);
  assert.equal(reported(""), false);
});

test("open folders survive in the address, also with commas and percent signs", () => {
  const openFolders = ["/guides/", "/a,b/%2C/"];
  const address = { ...read("show=folders"), openFolders };
  const search = `${new URLSearchParams(formatViewsAddress(address))}`;
  assert.deepEqual(read(search).openFolders, openFolders);
  assert.deepEqual(read("open=guides,/x").openFolders, []);
});

test("the address of a report accepts the columns of every report", () => {
  assert.deepEqual(read("sort=-hits").sorting, { column: "hits", direction: "descending" });
  assert.deepEqual(read("sort=change").sorting, { column: "change", direction: "ascending" });
});

test("the address keeps the filters, empty values included", () => {
  for (const query of [
    "range=last-month",
    "range=last-month&category=",
    "range=last-month&category=A+B",
    "range=last-month&answer=unanswered&category=Setup",
    "range=last-month&helpful=No&status=in_progress&source=contextual",
    "range=last-month&show=by-page",
    "range=last-month&show=no-clicks",
    "range=last-month&show=low-click-rate",
  ]) {
    assert.equal(written(query), query);
  }
});
