/**
 * Runs something that goes on until its signal is aborted: once the user ends the program (SIGINT, SIGTERM), or whoever read its output
 * has left, as `head` does.
 */
export async function untilUserEnds<Result>(
  run: (ending: AbortController) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  process.stdout.once('error', end);
  try {
    return await run(ending);
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end);
    process.stdout.off('error', end);
  }
}
