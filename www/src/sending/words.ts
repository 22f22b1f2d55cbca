/** The strings of writes whose outcome can be unknown. */
export const SEND_WORDS = {
  stopped: "You stopped waiting for a response",
  stoppedCause: "The gateway may already have received this.",
  stoppedHint: (many: string, same: string) =>
    `Check the list of ${many}, or send it again. That’s safe for a day: the gateway starts ${same} only once.`,
  forgotten: "We can’t tell if this was done",
  forgottenCause:
    "The gateway may no longer recognize your attempt, so it may start it a second time.",
  doubtHint: "Check before you send it again: it may be done twice.",
  connectionHint: (same: string) =>
    `Check your connection, then send it again. That’s safe for a day: the gateway starts ${same} only once.`,
  pending: "Your first attempt is still being sent",
  pendingHint: "Wait a moment, then send it again. You’ll get the result of the first attempt.",
  sentBefore: "You sent this before",
  sentBeforeHint: (one: string) =>
    `Mintlify received it, but a gateway admin deleted its ${one} from this list.`,
  keyReused: "We couldn’t send this",
  keyReusedHint: "The gateway mistook it for another request. Send it again.",
  sendAgain: "Send again",
} as const;
