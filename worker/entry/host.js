/**
 * The gateway's system calls. Each crosses the boundary of the wasm module once, with JSON, instead
 * of once per value.
 */

/** Runs a statement with a JSON array of values, and then `text`, if any. Returns the rows. */
function query(sql, statement, values, text) {
  const texts = text === undefined ? [] : [text];
  return sql.exec(statement, ...JSON.parse(values), ...texts).toArray();
}

export const host = { query };
