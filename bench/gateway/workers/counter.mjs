/** Counts the calls between JavaScript and every wasm module that is instantiated later. */

const { Instance, instantiate } = WebAssembly;
let place = "worker";
let counts = createCounts();

globalThis.crossings = {
  /** Gives what was counted since the last call. */
  take() {
    const taken = counts;
    counts = createCounts();
    return taken;
  },

  /** Runs a method of a Durable Object. */
  async countInObject(run) {
    place = "object";
    try {
      return await run();
    } finally {
      place = "worker";
    }
  },
};

/** Calls from JavaScript into wasm, and from wasm out to JavaScript. */
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
  const counted = modules.map(([name, members]) => [name, wrapFunctions(members, "out")]);
  const { exports } = new Instance(module, Object.fromEntries(counted));
  // Glue may ask whether it is an instance.
  return Object.create(Instance.prototype, { exports: { value: wrapFunctions(exports, "into") } });
}

function wrapFunctions(members, direction) {
  const entries = Object.entries(members).map(([name, member]) => {
    return [name, typeof member === "function" ? wrapFunction(member, direction) : member];
  });
  return Object.fromEntries(entries);
}

function wrapFunction(member, direction) {
  return (...args) => {
    counts[place][direction] += 1;
    return member(...args);
  };
}
