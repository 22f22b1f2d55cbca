/** `node scripts/man_page.mjs FILE`: writes the man page of the compiled command line. */
import { writeFile } from "node:fs/promises";
import { writeManPage } from "../pkg/dist/cli/man.js";

await writeFile(process.argv[2], writeManPage());
