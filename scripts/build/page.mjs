/** Builds the web page. */
import { join } from "node:path";
import { run } from "../child.mjs";
import { whenChanged } from "../freshness.mjs";
import { ROOT } from "../versions.mjs";
import { PACKAGE, PACKAGE_DIST } from "./package.mjs";

const PAGE = join(ROOT, "www");
/** The files that the gateway serves. */
export const PAGE_DIST = join(PAGE, "dist");

/**
 * Builds `www/dist/`. Needs the package.
 *
 * @param {import("../build.mjs").Context} context
 */
export async function buildPage(context) {
  const inputs = [PAGE, PACKAGE_DIST, join(PACKAGE, "package.json")];
  await whenChanged({ name: "page", inputs, outputs: [PAGE_DIST], made: context.made }, () =>
    run("building the page", context.bin.vite, ["build"], { ...context, cwd: PAGE }),
  );
}
