/** Prints the globals that importing the package and creating a client read, changed or added. */
const LANGUAGE = new Set([
  ...["globalThis", "Infinity", "NaN", "undefined", "isFinite", "isNaN", "parseFloat"],
  ...["parseInt", "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent"],
  ...["AggregateError", "Array", "ArrayBuffer", "Atomics", "BigInt", "BigInt64Array"],
  ...["BigUint64Array", "Boolean", "DataView", "Date", "Error", "EvalError"],
  ...["FinalizationRegistry", "Float32Array", "Float64Array", "Function", "Int16Array"],
  ...["Int32Array", "Int8Array", "Intl", "JSON", "Map", "Math", "Number", "Object", "Promise"],
  ...["Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set"],
  ...["SharedArrayBuffer", "String", "Symbol", "SyntaxError", "TypeError", "URIError"],
  ...["Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray", "WeakMap", "WeakRef"],
  "WeakSet",
]);
/** Globals of other runtimes, for which a module might test. */
const ELSEWHERE = ["Deno", "Bun", "EdgeRuntime", "WorkerGlobalScope", "document", "window", "self"];

const log = console.log.bind(console);
const [, , entry] = process.argv;
const names = [...new Set([...Object.getOwnPropertyNames(globalThis), ...ELSEWHERE])].filter(
  (name) => !LANGUAGE.has(name),
);
const touched = { reads: [], writes: [] };
for (const name of names) {
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  if (before?.configurable === false) continue;
  let value = before?.value;
  const note = (list) => {
    if (new Error().stack.includes("/node_modules/quillgate/")) list.push(name);
  };
  Object.defineProperty(globalThis, name, {
    configurable: true,
    enumerable: before?.enumerable ?? false,
    get() {
      note(touched.reads);
      return before?.get ? before.get.call(globalThis) : value;
    },
    set(next) {
      note(touched.writes);
      value = next;
    },
  });
}

const known = new Set(Object.getOwnPropertyNames(globalThis));
const address = new URL(`./node_modules/quillgate/dist/${entry}.js`, import.meta.url);
const { Client } = await import(address);
const byImport = structuredCopy(touched);
new Client({ baseUrl: "https://gate.example", projectId: "p", auth: { token: "t" } });
const added = Object.getOwnPropertyNames(globalThis).filter((name) => !known.has(name));
log(
  JSON.stringify({
    byImport,
    byClient: structuredCopy(touched).reads.slice(byImport.reads.length),
    added,
  }),
);

function structuredCopy(value) {
  return JSON.parse(JSON.stringify(value));
}
