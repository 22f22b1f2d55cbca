/** The memory checks over many calls. */
import { checkMemory } from "./memory/checks.mjs";

checkMemory(10_000, 1_000);
