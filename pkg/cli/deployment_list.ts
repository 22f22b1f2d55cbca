/** `quillgate deployment list`: prints the deployments and previews started through the gateway. */

import type { ListedDeployment } from "../index.js";
import { readWebUrl } from "./browser.js";
import type { Context } from "./command.js";
import { printListing } from "./listing.js";
import type { Column } from "./table.js";

export async function run(context: Context): Promise<undefined> {
  const { signal } = context;
  await printListing(context, {
    operation: "deployments.list",
    none: "no deployments",
    load: (client, { limit, maxRows }) =>
      client.deployments.list({ limit }, { signal }).all({ maxRows }),
    makeColumns: () => makeColumns(context),
  });
}

function makeColumns({ output }: Context): Column<ListedDeployment>[] {
  return [
    { head: "ID", value: ({ statusId }) => statusId, isWhole: true, isKey: true },
    {
      head: "STATUS",
      value: ({ status, isLive }) =>
        status === "failure" && isLive === true ? "failure, but live" : status,
      isKey: true,
    },
    { head: "BRANCH", value: ({ branch }) => branch },
    { head: "STARTED", value: ({ createdAt }) => output.showTime(createdAt) },
    { head: "BY", value: ({ createdBy }) => createdBy },
    {
      head: "PREVIEW",
      value: ({ previewUrl }) => previewUrl,
      link: ({ previewUrl }) => readWebUrl(previewUrl) ?? null,
    },
  ];
}
