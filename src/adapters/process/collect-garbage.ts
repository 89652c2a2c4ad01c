import { Session } from 'node:inspector/promises';

/** Frees what nothing on the heap holds any more. Everything else waits meanwhile. */
export async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
