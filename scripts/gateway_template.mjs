import { StepError } from "./child.mjs";

/** Where the package is when it is installed. */
const PACKAGE = "node_modules/quillgate-gateway/dist";
/** What differs between the repository and a folder that has the package installed. */
const REPLACEMENTS = [
  ["#:schema ../node_modules/", "#:schema node_modules/"],
  ['main = "build/index.js"', `main = "${PACKAGE}/index.js"`],
  ['directory = "../www/dist"', `directory = "${PACKAGE}/page"`],
  ['migrations_dir = "migrations"', `migrations_dir = "${PACKAGE}/migrations"`],
  ["docs/deploy.md", `${PACKAGE}/deploy.md`],
];

/**
 * Makes the configuration of a deployment from the npm package out of the Worker's own, so that what
 * is deployed from either is the same.
 *
 * @param {string} config the text of `worker/wrangler.toml`
 * @returns {string}
 */
export function makeGatewayTemplate(config) {
  let template = config;
  for (const [from, to] of REPLACEMENTS) {
    const changed = template.replaceAll(from, to);
    if (changed === template) throw new StepError(`worker/wrangler.toml has no ${from}`);
    template = changed;
  }
  return template;
}
