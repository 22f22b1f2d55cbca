import { computed, signal } from "@preact/signals";
import type { Client, Deployment, ListedDeployment } from "quillgate";
import { isLive } from "quillgate/values";
import { Loader } from "../live/loader.ts";
import { currentTime } from "../shell/clock_skew.ts";
import { describeProblem, type Problem } from "../shell/problem.ts";
import { hasEnded, type Outcome } from "./deployment_state.ts";

/** The known facts about a deployment, from all sources. */
export interface DeploymentFacts
  extends Pick<
    ListedDeployment,
    "status" | "isLive" | "summary" | "branch" | "previewUrl" | "createdBy" | "createdAt"
  > {
  id: string;
}

export interface DeploymentSource {
  client: Client;
  projectId: string;
  /** Aborted when the session ends. */
  ended: AbortSignal;
}

/** The deployment on its own page. */
export class OpenDeployment {
  readonly id: string;
  readonly problem = signal<Problem | null>(null);
  /** Whether the last load found no such deployment in this project. */
  readonly isMissing = signal(false);
  /** Whether the gateway's record was deleted while the page was open. */
  readonly isDeleted = signal(false);
  readonly loading = signal(false);
  /** The time of the gateway's latest answer or event about the deployment. */
  readonly newsAt = signal<number | null>(null);
  /** The deployment with its log; null until the first response. */
  readonly deployment = signal<Deployment | null>(null);
  readonly #listed = signal<ListedDeployment | null>(null);
  readonly #client: Client;
  readonly #projectId: string;
  readonly #ended: AbortSignal;
  readonly #loader = new Loader(() => this.#load());

  readonly facts = computed((): DeploymentFacts | null => {
    const [deployment, listed] = [this.deployment.value, this.#listed.value];
    // `listed` also receives the state of Mintlify's responses, so it is the newest.
    if (listed !== null) return { ...listed, id: this.id };
    if (deployment === null) return null;
    return {
      id: this.id,
      ...outcomeOf(deployment),
      branch: null,
      previewUrl: null,
      createdBy: null,
      createdAt: deployment.createdAt,
    };
  });

  constructor(id: string, { client, projectId, ended }: DeploymentSource) {
    this.id = id;
    this.#client = client;
    this.#projectId = projectId;
    this.#ended = ended;
  }

  load(): Promise<void> {
    return this.#loader.load();
  }

  /** Applies a deployment from a stream or a list. It has no log, so a problem with the log stays. */
  receiveListed(listed: ListedDeployment): void {
    const before = this.facts.peek();
    const { status, isLive, summary } = before && undoesEnd(listed, before) ? before : listed;
    this.#listed.value = { ...listed, status, isLive, summary };
    this.newsAt.value = currentTime();
  }

  /** Applies a deployment with its log. */
  receive(deployment: Deployment): void {
    this.#apply(deployment, true);
  }

  noteDeleted(): void {
    this.isDeleted.value = true;
    this.problem.value = null;
  }

  noteFailure(error: unknown): void {
    if (this.#ended.aborted || this.isDeleted.peek()) return;
    this.isMissing.value = (error as { status?: number }).status === 404;
    this.problem.value = describeProblem(error, currentTime());
  }

  async #load(): Promise<void> {
    this.loading.value = true;
    const [listed, known] = [this.#listed.peek(), this.deployment.peek()];
    try {
      const deployment = await this.#client.deployments.get(this.id, { signal: this.#ended });
      // A state of the stream that arrived meanwhile is newer.
      if (this.deployment.peek() !== known) return;
      // Deployments of all projects of the person have the same path.
      const { projectId } = deployment;
      const isOther = listed === null && projectId !== null && projectId !== this.#projectId;
      if (isOther) {
        this.isMissing.value = true;
        return;
      }
      // The state of an event that arrived meanwhile is newer, and triggers another load.
      this.#apply(deployment, this.#listed.peek() === listed);
    } catch (error) {
      if (this.deployment.peek() === known) this.noteFailure(error);
    } finally {
      this.loading.value = false;
    }
  }

  #apply(deployment: Deployment, isNewState: boolean): void {
    this.newsAt.value = currentTime();
    this.problem.value = null;
    this.isMissing.value = false;
    const known = this.deployment.peek();
    if (known !== null && isOlder(deployment, known)) return;
    this.deployment.value = deployment;
    const listed = this.#listed.peek();
    if (listed === null || undoesEnd(deployment, listed) || !isNewState) return;
    this.#listed.value = { ...listed, ...outcomeOf(deployment) };
  }
}

/** Returns whether a deployment is older than the known one: an end is final, and a log only grows. */
function isOlder(next: Deployment, known: Deployment): boolean {
  if (hasEnded(next) !== hasEnded(known)) return hasEnded(known);
  const [lines, others] = [next.logs, known.logs];
  if (!lines || !others) return false;
  return lines.length < others.length && lines.every((line, at) => line === others[at]);
}

/** Returns whether a state is older than the known one, because an end is final. */
function undoesEnd(next: Pick<Outcome, "status">, known: Pick<Outcome, "status">): boolean {
  return hasEnded(known) && !hasEnded(next);
}

function outcomeOf(
  deployment: Deployment,
): Pick<ListedDeployment, "status" | "isLive" | "summary"> {
  const { status, summary } = deployment;
  return { status, summary, isLive: hasEnded(deployment) ? isLive(deployment) : null };
}
