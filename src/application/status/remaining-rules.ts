/** What is known of rules of other modes: whether they could be removed. */
export class RemainingRules {
  /** What could not be removed, and why, for people; empty when nothing is to be tried again. */
  failures: readonly string[] = [];
}
