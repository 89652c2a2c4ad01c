/** Which of two values of a kind comes first: below 0, the first one. */
export function compare<Value extends string | number>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
