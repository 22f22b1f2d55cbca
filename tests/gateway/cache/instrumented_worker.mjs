/** The built Worker with an instrumented organization object. */
import { until } from "../analytics_requests.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";

export function instrumentedConfig() {
  return configWith({
    source: `
      import worker, { OrgGate as Gate, ProjectGate, Session } from ${JSON.stringify(BUILT_SCRIPT)};
      let calls = 0;
      let failing = false;
      export { ProjectGate, Session };
      export class OrgGate extends Gate {
        report(call) {
          calls += 1;
          if (failing) throw new Error("unreachable");
          return super.report(call);
        }
      }
      export default {
        fetch(request, env, context) {
          const { pathname, searchParams } = new URL(request.url);
          if (pathname !== "/v1/instrumented") return worker.fetch(request, env, context);
          if (searchParams.has("failing")) failing = searchParams.get("failing") === "yes";
          return Response.json({ calls });
        },
      };
    `,
  });
}

/** Returns the number of calls for reports that the organization object has received. */
export async function objectCalls(gate) {
  return (await control(gate, "")).calls;
}

export async function setObjectFailing(gate, failing) {
  await control(gate, `?failing=${failing}`);
}

function control(gate, query) {
  return until(async () => {
    const answer = await gate.get(`/v1/instrumented${query}`, { authorization: null });
    return answer.status === 200 && answer.json;
  });
}
