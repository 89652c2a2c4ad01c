/** The text of anything thrown: the message of an error, even from another realm, else the value itself. */
export function errorMessage(thrown: unknown): string {
  const message: unknown = (thrown as Partial<Error> | null | undefined)?.message;
  return typeof message === 'string' ? message : String(thrown);
}
