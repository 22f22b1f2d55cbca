/** Records what the Durable Objects of the Worker do that the build inserts for `traced`. */
import worker, { OrgGate as Org, ProjectGate as Project } from "traced";

let lines = [];

export default {
  ...worker,
  async fetch(request, env, context) {
    if (!request.url.endsWith("/trace")) return await worker.fetch(request, env, context);
    const taken = lines;
    lines = [];
    return Response.json(taken);
  },
};

const { fetch } = globalThis;
globalThis.fetch = (url, init) => {
  lines.push([`${init.method} ${url}`, init.body ?? ""]);
  return fetch(url, init);
};

/** Replaces methods of the prototypes, because each property returns a new object. */
function trace({ storage }) {
  const { sql } = storage;
  replace(sql, "exec", (exec, [statement, ...values]) => {
    const cursor = exec();
    const rows = { read: cursor.rowsRead, written: cursor.rowsWritten };
    lines.push([statement.replaceAll(/\s+/g, " ").trim(), ...values.map(describe), rows]);
    const toArray = () => {
      const all = cursor.toArray();
      Object.assign(rows, { read: cursor.rowsRead, written: cursor.rowsWritten });
      return all;
    };
    return { toArray };
  });
  replace(storage, "transactionSync", (run) => {
    lines.push(["BEGIN"]);
    const result = run();
    lines.push(["COMMIT"]);
    return result;
  });
}

const replaced = new Set();

function replace(object, name, replacement) {
  if (replaced.has(name)) return;
  replaced.add(name);
  const prototype = Object.getPrototypeOf(object);
  const original = prototype[name];
  prototype[name] = function (...args) {
    return replacement(() => original.apply(this, args), args);
  };
}

/** Describes the type of a value, and the length of a string in steps. */
function describe(value) {
  if (typeof value === "string") return `string ${Math.ceil(value.length / 64)}`;
  return value === null ? "null" : typeof value;
}

export class OrgGate extends Org {
  constructor(state, env) {
    trace(state);
    super(state, env);
  }
}

export class ProjectGate extends Project {
  constructor(state, env) {
    trace(state);
    super(state, env);
  }
}
