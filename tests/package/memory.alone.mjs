/** A short run of the memory checks. `memory.matrix.mjs` makes ten times as many calls. */
import { checkMemory } from "./memory/checks.mjs";

checkMemory(1_000, 100);
