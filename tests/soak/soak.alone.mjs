/** A short soak run; `soak.matrix.mjs` has a longer one. */
import { testSoak } from "./tests.mjs";

testSoak({ seconds: 10, minRequests: 330 });
