/** A short schemathesis run; `schemathesis.matrix.mjs` has a long one. */
import { testWithSchemathesis } from "./schemathesis.mjs";

testWithSchemathesis({ maxExamples: 5 });
