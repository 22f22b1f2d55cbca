/** Runs a script of `scripts/` that reads a secret from a variable or from stdin. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export async function runScript(name, args, { env = {}, input = "" } = {}) {
  const script = fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));
  const child = spawn(process.execPath, [script, ...args], { env: { ...process.env, ...env } });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) {
    child[stream].setEncoding("utf8").on("data", (text) => {
      output[stream] += text;
    });
  }
  // A script that rejects its arguments may exit before it reads stdin.
  child.stdin.on("error", () => {}).end(input);
  const [code] = await once(child, "close");
  return { code, ...output };
}
