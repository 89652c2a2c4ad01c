/** What went wrong, as text: the message of an error, of whichever realm, or else what was thrown. */
export function errorMessage(thrown: unknown): string {
  const message: unknown = (thrown as Partial<Error> | null | undefined)?.message;
  return typeof message === 'string' ? message : String(thrown);
}
