/** What is known of rules of other modes: whether they are removed. */
export class RemainingRules {
  /** Why packets may still meet some, for people; empty when none are to be removed any more. */
  reasons: readonly string[] = [];
}
