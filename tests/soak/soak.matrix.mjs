/** A soak run of a minute. */
import { testSoak } from "./tests.mjs";

testSoak({ seconds: 60, minRequests: 2000 });
