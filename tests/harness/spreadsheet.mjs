/** Opens a CSV file in LibreOffice, as a user would, and returns its cells. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { capture } from "../../scripts/child.mjs";

/** Defaults of the CSV import dialog for files with a byte order mark: `,`, `"`, UTF-8, line 1. */
const FILTER = "CSV:44,34,76,1";
const ENTITIES = { amp: "&", apos: "'", quot: '"', lt: "<", gt: ">" };

/**
 * @typedef {object} Cell
 * @property {string} type `string`, `float`, `date` …; empty for an empty cell
 * @property {string} text as displayed
 * @property {string} [formula]
 *
 * @param {string | Uint8Array} csv
 * @returns {Promise<Cell[][]>} rows of cells
 */
export async function openInSpreadsheet(csv) {
  const folder = await mkdtemp(join(tmpdir(), "quillgate-spreadsheet-"));
  try {
    await writeFile(join(folder, "table.csv"), csv);
    const profile = pathToFileURL(join(folder, "profile")).href;
    const args = [`-env:UserInstallation=${profile}`, "--headless", `--infilter=${FILTER}`];
    const target = ["--convert-to", "fods", "--outdir", folder, join(folder, "table.csv")];
    const soffice = process.env.SOFFICE || "soffice";
    const { code, stderr } = await capture(soffice, [...args, ...target], { timeoutMs: 120_000 });
    assert.equal(code, 0, stderr);
    return readTable(await readFile(join(folder, "table.fods"), "utf8"));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Reads the only table of a document (OpenDocument 1.3, part 3, section 9). */
function readTable(document) {
  const [, table] = /<table:table [^>]*>(.*?)<\/table:table>/s.exec(document);
  return [...table.matchAll(/<table:table-row([^>]*)>(.*?)<\/table:table-row>/gs)].flatMap(
    ([, attributes, cells]) => repeat(attributes, "rows", readCells(cells)),
  );
}

function readCells(row) {
  const cells = row.matchAll(/<table:table-cell([^>]*?)(?:\/>|>(.*?)<\/table:table-cell>)/gs);
  return [...cells].flatMap(([, attributes, content = ""]) => {
    const paragraphs = [...content.matchAll(/<text:p>(.*?)<\/text:p>/gs)];
    const cell = {
      type: attribute(attributes, "office:value-type") ?? "",
      text: paragraphs.map(([, text]) => readText(text)).join("\n"),
      formula: attribute(attributes, "table:formula"),
    };
    return repeat(attributes, "columns", cell);
  });
}

function repeat(attributes, what, value) {
  return Array(Number(attribute(attributes, `table:number-${what}-repeated`) ?? 1)).fill(value);
}

function attribute(attributes, name) {
  const value = new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1];
  return value === undefined ? undefined : unescapeText(value);
}

function readText(xml) {
  const spaced = xml.replace(/<text:s(?: text:c="(\d+)")?\/>/g, (_, count) =>
    " ".repeat(Number(count ?? 1)),
  );
  return unescapeText(spaced.replaceAll("<text:tab/>", "\t").replace(/<[^>]*>/g, ""));
}

function unescapeText(xml) {
  return xml.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (_, hex, decimal, name) => {
    if (name) return ENTITIES[name];
    return String.fromCodePoint(Number.parseInt(hex ?? decimal, hex ? 16 : 10));
  });
}
