import assert from "node:assert/strict";
import { test } from "node:test";
import { withShortNames } from "../../scripts/glue.mjs";

const GLUE = `
import * as import1 from "./snippets/quillgate/host.js"
export function fetch(request) {
    return wasm.fetch(request, wasm.__wbindgen_malloc);
}
function __wbg_get_imports() {
    const import0 = {
        __proto__: null,
        __wbg_fetch_1f: function(arg0) {
            return arg0.fetch();
        },
    };
    return {
        __proto__: null,
        "./gateway_bg.js": import0,
        "./snippets/quillgate/host.js": import1,
    };
}
`;
const NAMES = {
  imports: [
    ["./gateway_bg.js", "__wbg_fetch_1f", "a"],
    ["./snippets/quillgate/host.js", "sleep", "b"],
  ],
  exports: [
    ["fetch", "c"],
    ["__wbindgen_malloc", "d"],
  ],
};

test("imports and exports get their short names, and nothing else of the same name", () => {
  const short = withShortNames(GLUE, NAMES);
  assert.match(
    short,
    /^export function fetch\(request\) \{\n {4}return wasm\.c\(request, wasm\.d\);/m,
  );
  assert.match(short, /^ +a: function\(arg0\) \{\n +return arg0\.fetch\(\);/m);
  assert.match(
    short,
    /^ +__proto__: null,\n +a: \{ \.\.\.import0, b: import1\.sleep \},\n {4}\};/m,
  );
});

test("a glue that does not have what wasm-opt has renamed is refused", () => {
  const unknown = [["./gateway_bg.js", "__wbg_other_2c", "a"]];
  assert.throws(() => withShortNames(GLUE, { ...NAMES, imports: unknown }), /nothing like/);
  const aliased = `${GLUE}const { __wbindgen_malloc: malloc } = wasm; other.__wbindgen_malloc();`;
  assert.throws(() => withShortNames(aliased, NAMES), /still names __wbindgen_malloc/);
});
