/** Builds the web page. */
import { join } from "node:path";
import { run } from "../child.mjs";
import { whenChanged } from "../freshness.mjs";
import { ROOT } from "../versions.mjs";
import { buildFont } from "./font.mjs";
import { PACKAGE, PACKAGE_DIST, START_PACKAGE } from "./package.mjs";
import { PROBLEM_DOCS, writeProblemPages } from "./problem_pages.mjs";

const PAGE = join(ROOT, "www");

/** The page that is tested and deployed. */
const RELEASE = Object.freeze({
  name: "page",
  packageFolder: PACKAGE_DIST,
  out: join(PAGE, "dist"),
});
export const PAGE_DIST = RELEASE.out;
/** The page of `npm start`. */
const START = Object.freeze({
  name: "start page",
  packageFolder: START_PACKAGE,
  out: join(PAGE, "build", "start"),
});
export const START_PAGE = START.out;

/** Builds a variant: by default the deployed one. Needs the package of the same variant. */
export async function buildPage(context, variant = RELEASE) {
  const { name, packageFolder, out } = variant;
  await buildFont(context);
  const inputs = [PAGE, packageFolder, join(PACKAGE, "package.json"), PROBLEM_DOCS];
  const env = { ...context.env, QUILLGATE_PACKAGE: packageFolder };
  await whenChanged({ name, inputs, outputs: [out], made: context.made }, async () => {
    const options = { ...context, env, cwd: PAGE };
    await run("building the page", context.bin.vite, ["build", "--outDir", out], options);
    await writeProblemPages(out);
  });
}

/** Builds the page of `npm start` into `www/build/start/`. */
export async function buildStartPage(context) {
  await buildPage(context, START);
}
