/** Counts the calls between JavaScript and a wasm module that is instantiated later. */

const { Instance } = WebAssembly;
let counts = { worker: {}, object: {} };
let place = "worker";

globalThis.crossings = {
  /** What was counted since the last time it was told. */
  told() {
    const told = counts;
    counts = { worker: {}, object: {} };
    return told;
  },

  /** Runs a call of a Durable Object. */
  async inObject(run) {
    place = "object";
    try {
      return await run();
    } finally {
      place = "worker";
    }
  },
};

WebAssembly.Instance = function CountedInstance(module, imports) {
  const instance = new Instance(module, allCounted(imports, "import "));
  return { exports: counted(instance.exports, "") };
};

function allCounted(modules, prefix) {
  const entries = Object.entries(modules ?? {});
  return Object.fromEntries(entries.map(([name, one]) => [name, counted(one, prefix)]));
}

function counted(members, prefix) {
  const entries = Object.entries(members);
  return Object.fromEntries(
    entries.map(([name, member]) => {
      if (typeof member !== "function") return [name, member];
      return [name, count(prefix + name, member)];
    }),
  );
}

function count(name, member) {
  return (...args) => {
    counts[place][name] = (counts[place][name] ?? 0) + 1;
    return member(...args);
  };
}
