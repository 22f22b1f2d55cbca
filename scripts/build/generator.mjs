import { cargoBuildProgram, targetFolder } from "../cargo.mjs";
import { run } from "../child.mjs";

/** Builds the program that generates files from the Rust types. */
export function buildGenerator(context) {
  const step = "building the generator";
  return cargoBuildProgram(step, "quillgate-generate", targetFolder("generate"), context);
}

/** Generates a file from the Rust types. */
export async function generate(name, content, path, context) {
  const program = await buildGenerator(context);
  await run(`generating the ${name}`, program, [content, path], context);
}
