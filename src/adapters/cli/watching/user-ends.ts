/** Aborted once the user ends the program (SIGINT, SIGTERM), or whoever read its output has left, as `head` does. */
export function userEnds(): AbortController {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  process.stdout.once('error', end);
  return ending;
}
