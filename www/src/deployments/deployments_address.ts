import { registerAddressPart } from "../shell/address.ts";

interface DeploymentsAddress {
  /** The deployment that is shown; null for the list. */
  id: string | null;
}

declare module "../shell/address.ts" {
  interface AddressParts {
    deployments: DeploymentsAddress;
  }
}

registerAddressPart("deployments", {
  routes: ["deployments"],
  parse: (query) => ({ id: query.get("deployment") || null }),
  format: ({ id }) => (id === null ? [] : [["deployment", id]]),
  onOtherProject: () => ({ id: null }),
});
