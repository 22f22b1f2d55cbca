/** Counts calls between JavaScript and each wasm module instantiated after this import. */

const { Instance, instantiate } = WebAssembly;
let place = "worker";
let counts = createCounts();

globalThis.crossings = {
  /** Returns the counts and resets them. */
  take() {
    const current = counts;
    counts = createCounts();
    return current;
  },

  /** Runs a method of a Durable Object, and counts its calls separately. */
  async countInObject(run) {
    place = "object";
    try {
      return await run();
    } finally {
      place = "worker";
    }
  },
};

/** Counts of calls from JavaScript into wasm, and from wasm out to JavaScript. */
function createCounts() {
  return { worker: { into: 0, out: 0 }, object: { into: 0, out: 0 } };
}

WebAssembly.Instance = new Proxy(Instance, {
  construct: (_, [module, imports]) => createInstance(module, imports),
});
WebAssembly.instantiate = async (source, imports) =>
  source instanceof WebAssembly.Module
    ? createInstance(source, imports)
    : await instantiate(source, imports);

function createInstance(module, imports = {}) {
  const modules = Object.entries(imports);
  const counted = modules.map(([name, functions]) => [name, wrapFunctions(functions, "out")]);
  const { exports } = new Instance(module, Object.fromEntries(counted));
  // The glue may use `instanceof`.
  return Object.create(Instance.prototype, { exports: { value: wrapFunctions(exports, "into") } });
}

function wrapFunctions(values, direction) {
  const entries = Object.entries(values).map(([name, value]) => {
    return [name, typeof value === "function" ? wrapFunction(value, direction) : value];
  });
  return Object.fromEntries(entries);
}

function wrapFunction(call, direction) {
  return (...args) => {
    counts[place][direction] += 1;
    return call(...args);
  };
}
