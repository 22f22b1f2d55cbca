import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";

const SOURCES = join(ROOT, "www", "src");
const MODULE_IMPORT = /import \* as (\w+) from "([^"]+\.module\.css)";/g;
/** The value of an attribute such as `class` or `panelClass`. */
const CLASS_NAMES = /\b(?:c|\w+C)lass=(?:"([^"]*)"|\{`([^`]*)`\})/g;

const files = readdirSync(SOURCES, { recursive: true });
const modules = files.filter((file) => file.endsWith(".module.css"));
const components = files.filter((file) => /\.tsx?$/.test(file));
const defined = new Map(modules.map((module) => [module, classesIn([module])]));
const used = components.flatMap(usesIn);

test("components use only classes that their CSS Modules define", () => {
  assert.ok(used.length > modules.length);
  const unknown = used.filter(({ module, name }) => !defined.get(module)?.has(name));
  assert.deepEqual(unknown, []);
});

test("components use every class of every CSS Module", () => {
  const unused = modules.flatMap((module) =>
    [...defined.get(module)]
      .filter((name) => !used.some((use) => use.module === module && use.name === name))
      .map((name) => `${module}: ${name}`),
  );
  assert.deepEqual(unused, []);
});

test("the other classes of components are global", () => {
  const sheets = files.filter((file) => file.startsWith("styles/") && file.endsWith(".css"));
  // Browsers and their extensions do not translate elements of this class.
  const globals = new Set([...classesIn(sheets), "notranslate"]);
  const unknown = components.flatMap((component) =>
    [...read(component).matchAll(CLASS_NAMES)]
      .flatMap(([, plain, template]) => plain ?? template.replace(/\S*\$\{[^}]*\}\S*/g, " "))
      .flatMap((names) => names.split(/\s+/).filter(Boolean))
      .filter((name) => !globals.has(name))
      .map((name) => `${component}: ${name}`),
  );
  assert.deepEqual(unknown, []);
});

function usesIn(component) {
  const text = read(component);
  return [...text.matchAll(MODULE_IMPORT)].flatMap(([, styles, path]) => {
    const module = join(dirname(component), path);
    const code = text.replace(/^(?:import|\} from) .*/gm, "");
    const names = code.matchAll(new RegExp(`\\b${styles}\\.(\\w+)`, "g"));
    return [...names].map(([, name]) => ({ component, module, name }));
  });
}

/** Returns the classes that style sheets define. Classes in `:global()` belong to others. */
function classesIn(sheets) {
  const rules = sheets
    .map(read)
    .join("")
    .replace(/\/\*[\s\S]*?\*\/|:global\([^)]*\)/g, "");
  const selectors = rules.match(/[^{};]+(?=\{)/g) ?? [];
  return new Set(selectors.join(" ").match(/(?<=\.)[a-z][\w-]*/gi));
}

function read(file) {
  return readFileSync(join(SOURCES, file), "utf8");
}
