import { Session } from 'node:inspector/promises';

/** Runs a full garbage collection. Blocks everything else meanwhile. */
export async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
