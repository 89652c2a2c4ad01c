/** How something is, for its `Mark`: as it should be, on its way or not quite, not as it should be, not in use. */
export type MarkKind = 'good' | 'waiting' | 'bad' | 'off';

const MARKS: Readonly<Record<string, MarkKind>> = {
  programmed: 'good',
  'everything-programmed': 'good',
  pending: 'waiting',
  repaired: 'waiting',
  removed: 'off',
  'not-served': 'off',
};

/** How a Service or a service port in this state is, or one that such a change left. */
export function markOf(state: string): MarkKind {
  return MARKS[state] ?? 'bad';
}
