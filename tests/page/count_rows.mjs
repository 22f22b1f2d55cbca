/** Rows of reports that count people and AI. */
import { importRows } from "./source.mjs";

const { toCountRow } = await importRows("report.ts");

export const row = (path, human, ai) => toCountRow({ path, human, ai, total: human + ai });
