/** The deployments and previews of the fake gateway. */

import { FakeRecords, type Stored } from "./fake_records.js";
import { isLive } from "./live.js";
import type { Deployment, DeploymentStatus, ListedDeployment } from "./types.js";

/** A deployment or a preview of the fake gateway. */
export interface FakeDeployment extends Deployment {
  _id: string;
  status: DeploymentStatus;
  createdAt: string;
  /** The branch of a preview; `null` for a deployment of the site. */
  branch: string | null;
  /** The URL of a preview; `null` for a deployment of the site. */
  previewUrl: string | null;
  /** The author in the list of deployments. */
  createdBy: string;
  /** The address of its webhook, or `null`. */
  webhookUrl: string | null;
}

/** The properties that a change of a deployment may set. */
export type FakeDeploymentChange = Partial<
  Pick<FakeDeployment, "status" | "summary" | "logs" | "commit" | "author">
>;

/** Stores deployments, and ends each after its duration. */
export class FakeDeployments extends FakeRecords<FakeDeployment> {
  readonly name = "deployment";
  readonly idName = "statusId";
  protected readonly final = ["success", "failure"];

  protected idOf({ _id }: FakeDeployment): string {
    return _id;
  }

  /** @throws {TypeError} if there is already a deployment with this id */
  create(
    given: Pick<FakeDeployment, "projectId" | "createdBy"> & Partial<FakeDeployment>,
  ): FakeDeployment {
    const createdAt = given.createdAt ?? new Date(this.settings.now()).toISOString();
    const { branch = null, projectId } = given;
    const deployment: FakeDeployment = {
      status: "in_progress",
      summary: "Deployment in progress",
      logs: ["Started the deployment"],
      endedAt: null,
      subdomain: projectId,
      screenshot: null,
      screenshotLight: null,
      screenshotDark: null,
      author: null,
      commit: null,
      source: "api",
      webhookUrl: null,
      ...given,
      branch,
      previewUrl: given.previewUrl ?? (branch === null ? null : toPreviewUrl(projectId, branch)),
      _id: given._id ?? this.findFreeId(),
      createdAt,
    };
    return this.add(deployment, createdAt);
  }

  protected override apply(
    stored: Stored<FakeDeployment>,
    change: Partial<FakeDeployment>,
    at: number,
  ): void {
    const isEnd = this.final.includes(change.status ?? "");
    super.apply(stored, { ...change, ...(isEnd && { endedAt: new Date(at).toISOString() }) }, at);
  }

  get(id: string): Deployment | undefined {
    const found = this.find(id);
    if (found === undefined) return undefined;
    const { branch, previewUrl, createdBy, webhookUrl, ...deployment } = found;
    return deployment;
  }

  /** Lists the recorded deployments. The deployment added last comes first. */
  list(): ListedDeployment[] {
    return this.recorded().map((stored) => this.toRow(stored));
  }

  protected toRow({ item, checkedAt }: Stored<FakeDeployment>): ListedDeployment {
    const { _id: statusId, status, summary, branch, previewUrl, createdBy, createdAt } = item;
    const live = this.isFinished(statusId) ? isLive(item) : null;
    const shown = { branch, previewUrl, createdBy, createdAt, checkedAt };
    return { statusId, status, isLive: live, summary, ...shown };
  }
}

/** The longest label of a host. */
const MAX_LABEL = 63;

/** Returns the URL of a preview: slashes become hyphens, and the label is cut at 63 characters. */
function toPreviewUrl(subdomain: string | null, branch: string): string {
  const label = `${subdomain}-${branch}`.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return `https://${label.slice(0, MAX_LABEL).replace(/-+$/, "")}.mintlify.site`;
}
