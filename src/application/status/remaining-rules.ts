/** What is known of rules of other modes: whether they are removed. */
export class RemainingRules {
  /** That they are being looked for and removed, for people. */
  removing: string | undefined;
  /** Why packets may still meet some, for people; empty when none are to be removed any more. */
  reasons: readonly string[] = [];
}
