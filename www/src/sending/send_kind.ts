/** The words of the writes of a draft, and whether the same write can be wanted again. */
export interface SendKind {
  /** As in "the list of jobs". */
  many: string;
  /** As in "the gateway starts the same prompt only once". */
  same: string;
  /** As in "deleted its job". */
  one: string;
  /** Whether the same input can be wanted again, such as another deployment of the site. */
  isRepeatable: boolean;
}

export const PROMPT: SendKind = {
  many: "jobs",
  same: "the same prompt",
  one: "job",
  isRepeatable: false,
};

export const DEPLOYMENT: SendKind = {
  many: "deployments",
  same: "it",
  one: "deployment",
  isRepeatable: true,
};
