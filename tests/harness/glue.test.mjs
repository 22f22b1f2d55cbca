import assert from "node:assert/strict";
import { test } from "node:test";
import { asImports, withoutRepeatedKeys } from "../../scripts/glue.mjs";

test("withoutRepeatedKeys keeps the first line of each imported module", () => {
  const lines = [
    "return {",
    '  "./a.js": import1,',
    '  "./a.js": import2,',
    '  "./b.js": import3,',
    "};",
  ];
  const expected = lines.filter((line) => !line.includes("import2"));
  assert.equal(withoutRepeatedKeys(lines.join("\n")), expected.join("\n"));
});

const HOST = "./snippets/quillgate-wasm-3e/src/host.js";
const FOR_BUNDLERS = `import { number, say } from '${HOST}';
export class Task {
    free() {
        wasm.__wbg_task_free(this.__wbg_ptr, 0);
    }
}
if (Symbol.dispose) Task.prototype[Symbol.dispose] = Task.prototype.free;
export function __wbg_say_6d(arg0, arg1) {
    say(arg0 >>> 0, getStringFromWasm0(arg0, arg1));
}
export function __wbg_read_7e(arg0, arg1, arg2) {
    const ret = read(arg0 >>> 0, getStringFromWasm0(arg1, arg2));
    return ret;
}
const TaskFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_task_free(ptr, 1));
let cachedTextDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
cachedTextDecoder.decode();
const cachedTextEncoder = new TextEncoder();
const MAX_SAFARI_DECODE_BYTES = 2146435072;
let numBytesDecoded = 0;
function decodeText(bytes) {
    numBytesDecoded += bytes.length;
    if (numBytesDecoded >= MAX_SAFARI_DECODE_BYTES) {
        cachedTextDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
        cachedTextDecoder.decode();
        numBytesDecoded = bytes.length;
    }
    return cachedTextDecoder.decode(bytes);
}
function getDataViewMemory0() {
    if (cachedDataViewMemory0 === null || cachedDataViewMemory0.buffer.detached === true || (cachedDataViewMemory0.buffer.detached === undefined && cachedDataViewMemory0.buffer !== wasm.memory.buffer)) {
    }
}
function passStringToWasm0(arg, malloc, realloc) {
    if (realloc === undefined) {
        const buf = cachedTextEncoder.encode(arg);
        const ptr = malloc(buf.length, 1) >>> 0;
        getUint8ArrayMemory0().subarray(ptr, ptr + buf.length).set(buf);
        WASM_VECTOR_LEN = buf.length;
        return ptr;
    }
    const ret = cachedTextEncoder.encodeInto(arg, view);
}
if (!('encodeInto' in cachedTextEncoder)) {
    cachedTextEncoder.encodeInto = function (arg, view) {
        const buf = cachedTextEncoder.encode(arg);
        view.set(buf);
        return {
            read: arg.length,
            written: buf.length
        };
    };
}
export function __wbg_set_wasm(val) {
    wasm = val;
}
`;
const BUNDLER_NAMES = {
  imports: [
    ["./core_bg.js", "__wbg_say_6d", "a"],
    ["./core_bg.js", "__wbg_read_7e", "e"],
    [HOST, "number", "b"],
  ],
  exports: [
    ["__wbg_task_free", "c"],
    ["memory", "d"],
  ],
};
const MODULES = new Map([["src/host.js", "./host.js"]]);

test("asImports exports the imports of the wasm under their short names", () => {
  const module = asImports(FOR_BUNDLERS, BUNDLER_NAMES, MODULES);
  assert.match(module, /^import \{ number as b \} from '\.\/host\.js';$/m);
  assert.match(module, /^import \{ number, say \} from '\.\/host\.js';$/m);
  assert.match(module, /^function a\(arg0, arg1\) \{$/m);
  assert.match(module, /^export const imports = \{ a, e, b \};$/m);
  assert.match(module, /^export function setExports\(val\) \{$/m);
  assert.match(module, /wasm\.c\(this\.__wbg_ptr, 0\)/);
  assert.match(module, /read\(arg0 >>> 0, \(names\[arg1 \* 64 \+ arg2\] \?\?= getStringFromWasm0/);
  assert.doesNotMatch(module, /realloc === undefined|'encodeInto' in|^cachedTextDecoder\.decode/m);
  assert.match(module, /typeof FinalizationRegistry/);
});

test("asImports rejects glue that differs from what it expects", () => {
  const make = (glue, names = BUNDLER_NAMES, modules = MODULES) => asImports(glue, names, modules);
  const other = [["./core_bg.js", "__wbg_other_2c", "a"]];
  assert.throws(() => make(FOR_BUNDLERS, { ...BUNDLER_NAMES, imports: other }), /does not match/);
  assert.throws(
    () => make(FOR_BUNDLERS, BUNDLER_NAMES, new Map([["other.js", "./o.js"]])),
    /does not match/,
  );
  const forgotten = { ...BUNDLER_NAMES, exports: [["memory", "d"]] };
  assert.throws(() => make(FOR_BUNDLERS, forgotten), /still contains __wbg_task_free/);
  assert.throws(() => make(FOR_BUNDLERS.replace("encodeInto", "encodeOther")), /does not contain/);
});
