import { StepError } from "./child.mjs";

/** Path of the installed package's files. */
const PACKAGE = "node_modules/quillgate-gateway/dist";
/** Strings in the repository's configuration, and their replacements. */
const REPLACEMENTS = [
  ["#:schema ../node_modules/", "#:schema node_modules/"],
  ['main = "build/index.js"', `main = "${PACKAGE}/index.js"`],
  ['directory = "../www/dist"', `directory = "${PACKAGE}/page"`],
  ['migrations_dir = "migrations"', `migrations_dir = "${PACKAGE}/migrations"`],
  ["docs/", "node_modules/quillgate-gateway/docs/"],
];

/** Converts wrangler's configuration for deployments of the npm package, of the same Worker. */
export function makeGatewayTemplate(config) {
  let template = config;
  for (const [from, to] of REPLACEMENTS) {
    const changed = template.replaceAll(from, to);
    if (changed === template) throw new StepError(`worker/wrangler.toml does not contain ${from}`);
    template = changed;
  }
  return template;
}
