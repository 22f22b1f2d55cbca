/** A long schemathesis run, which takes several minutes. */
import { testWithSchemathesis } from "./schemathesis.mjs";

testWithSchemathesis({ maxExamples: 60 });
